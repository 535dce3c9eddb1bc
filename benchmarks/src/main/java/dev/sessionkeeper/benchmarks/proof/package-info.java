/** Writes down what was run to show that promises are kept. */
@org.jspecify.annotations.NullMarked
package dev.sessionkeeper.benchmarks.proof;
