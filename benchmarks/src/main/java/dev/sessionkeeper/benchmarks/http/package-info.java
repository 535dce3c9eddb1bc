/** The HTTP API compared with direct use of the provider: the cost of the network path. */
@NullMarked
package dev.sessionkeeper.benchmarks.http;

import org.jspecify.annotations.NullMarked;
