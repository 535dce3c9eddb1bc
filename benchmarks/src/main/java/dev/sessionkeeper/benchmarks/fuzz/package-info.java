/** Input that a person would not think of, guided by what it reaches in the product's code. */
@org.jspecify.annotations.NullMarked
package dev.sessionkeeper.benchmarks.fuzz;
