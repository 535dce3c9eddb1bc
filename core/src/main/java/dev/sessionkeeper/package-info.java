/**
 * What every user of Sessionkeeper meets: sessions, messages, deliveries, settlements and their
 * errors.
 */
@NullMarked
package dev.sessionkeeper;

import org.jspecify.annotations.NullMarked;
