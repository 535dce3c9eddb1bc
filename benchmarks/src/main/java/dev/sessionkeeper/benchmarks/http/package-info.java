/** The HTTP API beside the provider used directly: what the way over the network costs. */
@NullMarked
package dev.sessionkeeper.benchmarks.http;

import org.jspecify.annotations.NullMarked;
