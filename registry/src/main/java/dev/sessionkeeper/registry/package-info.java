/**
 * One active session per user and capacity. Start at {@link
 * dev.sessionkeeper.registry.SessionRegistry}.
 */
@NullMarked
package dev.sessionkeeper.registry;

import org.jspecify.annotations.NullMarked;
