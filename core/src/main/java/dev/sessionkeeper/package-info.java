/**
 * The types that every user of Sessionkeeper needs: sessions, messages, deliveries, settlements and
 * their errors.
 */
@NullMarked
package dev.sessionkeeper;

import org.jspecify.annotations.NullMarked;
