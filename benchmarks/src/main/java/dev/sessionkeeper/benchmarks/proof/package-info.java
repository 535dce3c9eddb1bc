/** Writes pages about runs that prove the product's guarantees. */
@org.jspecify.annotations.NullMarked
package dev.sessionkeeper.benchmarks.proof;
