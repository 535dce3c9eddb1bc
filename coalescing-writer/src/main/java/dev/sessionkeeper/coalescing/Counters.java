package dev.sessionkeeper.coalescing;

import java.util.concurrent.atomic.LongAdder;

/** The counters of a writer. */
final class Counters {
  final LongAdder submitted = new LongAdder();
  final LongAdder coalesced = new LongAdder();
  final LongAdder written = new LongAdder();
  final LongAdder batches = new LongAdder();
  final LongAdder retriesProcessed = new LongAdder();
  final LongAdder retrySuccess = new LongAdder();
  final LongAdder retryExhausted = new LongAdder();
  final LongAdder dead = new LongAdder();
  final LongAdder notFound = new LongAdder();
  final LongAdder backpressureTimeouts = new LongAdder();
  final LongAdder rejected = new LongAdder();
  final LongAdder workerRestarts = new LongAdder();
}
