/** What the dashboard costs: every screen on a large store, and consumers that are watched. */
@NullMarked
package dev.sessionkeeper.benchmarks.dashboard;

import org.jspecify.annotations.NullMarked;
