/** Fuzzing: Jazzer generates input that reaches new code of the product. */
@org.jspecify.annotations.NullMarked
package dev.sessionkeeper.benchmarks.fuzz;
