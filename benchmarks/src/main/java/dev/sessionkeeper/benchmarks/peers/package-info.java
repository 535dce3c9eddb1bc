/**
 * The PostgreSQL provider compared with other systems, each on its own engine, in one run: {@link
 * dev.sessionkeeper.benchmarks.peers.PeerBenchmark}.
 */
@NullMarked
package dev.sessionkeeper.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
