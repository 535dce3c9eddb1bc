/**
 * The PostgreSQL provider compared with bare SQL, in one run: {@link
 * dev.sessionkeeper.benchmarks.postgres.PostgresBenchmark}.
 */
@NullMarked
package dev.sessionkeeper.benchmarks.postgres;

import org.jspecify.annotations.NullMarked;
