/** Compares the coalescing writer with other ways to save cursors. */
@NullMarked
package dev.sessionkeeper.benchmarks.cursors;

import org.jspecify.annotations.NullMarked;
