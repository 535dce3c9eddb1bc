package dev.sessionkeeper.coalescing;

import java.time.Duration;

/**
 * The counters of a writer since it started, and its present contents. The names are those of the
 * metrics, without their prefix {@code persistence_}.
 *
 * @param queueDepth values that wait for their first attempt or are in flight
 * @param retryQueueDepth values that wait for their retry
 * @param bytes bytes held by both
 * @param oldestAge since when the oldest of them waits
 * @param submitted values submitted
 * @param eventsCoalesced submits that needed no write of their own
 * @param written values written
 * @param batches writes that succeeded
 * @param retriesProcessed attempts after the first one
 * @param retrySuccess values that were written by such an attempt
 * @param retryExhausted values set aside because their attempts were used up
 * @param dead values set aside for any reason
 * @param notFound values for keys that the store does not know
 * @param backpressureTimeouts callers that waited for room in vain
 * @param rejected values that were not taken, for any reason
 * @param workerRestarts workers that died and were replaced
 */
public record WriterMetrics(
    long queueDepth,
    long retryQueueDepth,
    long bytes,
    Duration oldestAge,
    long submitted,
    long eventsCoalesced,
    long written,
    long batches,
    long retriesProcessed,
    long retrySuccess,
    long retryExhausted,
    long dead,
    long notFound,
    long backpressureTimeouts,
    long rejected,
    long workerRestarts) {

  /** Returns the submits per written value since the start; 1 if none was written yet. */
  public double coalesceRatio() {
    return written == 0 ? 1 : (double) (written + eventsCoalesced) / written;
  }
}
