/** Processes of a run: how they are started, commanded, stopped and ended. */
@NullMarked
package dev.sessionkeeper.benchmarks.processes;

import org.jspecify.annotations.NullMarked;
