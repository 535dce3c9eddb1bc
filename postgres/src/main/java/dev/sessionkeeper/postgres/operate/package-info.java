/**
 * Operators' work: inspect, act on a session, replay, purge, delete, and housekeeping. Searches for
 * dashboards are public API, in the package above.
 */
@NullMarked
package dev.sessionkeeper.postgres.operate;

import org.jspecify.annotations.NullMarked;
