/** A steady load for hours, and what must stay flat under it. */
@org.jspecify.annotations.NullMarked
package dev.sessionkeeper.benchmarks.soak;
