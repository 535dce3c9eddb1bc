/** Processes of a run: how they are started, told what to do, stopped and ended. */
@NullMarked
package dev.sessionkeeper.benchmarks.processes;

import org.jspecify.annotations.NullMarked;
