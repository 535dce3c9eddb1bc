/** The coalescing writer beside what else one could write cursors with. */
@NullMarked
package dev.sessionkeeper.benchmarks.cursors;

import org.jspecify.annotations.NullMarked;
