/** The cost of the dashboard: every screen on a large store, and its effect on consumers. */
@NullMarked
package dev.sessionkeeper.benchmarks.dashboard;

import org.jspecify.annotations.NullMarked;
