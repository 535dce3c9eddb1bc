/** The fault matrix: every fault that the product promises to survive, with real processes. */
@org.jspecify.annotations.NullMarked
package dev.sessionkeeper.benchmarks.torture;
