package dev.sessionkeeper.cursors;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.time.TimeSource;
import java.util.concurrent.Executor;

/** What all workers of one writer share. */
record Surroundings<K, V>(
    LastValueStore<K, V> store,
    RetryPolicy retry,
    TimeSource time,
    Executor executor,
    WriterListener listener,
    Counters counters,
    Vitals vitals) {}
