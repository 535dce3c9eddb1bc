/**
 * Exact usage of registered sessions: metered to the microsecond, frozen, delivered, proven. Start
 * at {@link dev.sessionkeeper.registry.usage.Usage}.
 */
@NullMarked
package dev.sessionkeeper.registry.usage;

import org.jspecify.annotations.NullMarked;
