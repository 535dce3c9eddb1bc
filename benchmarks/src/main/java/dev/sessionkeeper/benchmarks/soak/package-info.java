/** A steady load for hours, and the figures that must stay flat under it. */
@org.jspecify.annotations.NullMarked
package dev.sessionkeeper.benchmarks.soak;
