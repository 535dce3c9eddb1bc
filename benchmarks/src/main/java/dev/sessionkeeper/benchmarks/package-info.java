/** Side-by-side runs: every figure is a ratio of contestants that ran in turn, in one process. */
@NullMarked
package dev.sessionkeeper.benchmarks;

import org.jspecify.annotations.NullMarked;
