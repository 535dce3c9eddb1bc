package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.time.TimeSource;
import java.util.concurrent.Executor;

/** The dependencies that all workers of one writer share. */
record WriterDependencies<K, V>(
    LastValueStore<K, V> store,
    RetryPolicy retry,
    TimeSource time,
    Executor executor,
    WriterListener listener,
    Counters counters,
    LastFailure vitals) {}
