package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.cursors.CoalescingWriter;
import dev.sessionkeeper.cursors.WriterListener;
import dev.sessionkeeper.cursors.WriterMetrics;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.ToDoubleFunction;

/** Shows a coalescing writer as the metrics {@code keeper_persistence_…}. */
final class WriterMeters implements WriterListener {
  private final MeterRegistry registry;
  private final DistributionSummary batchSize;
  private final Timer latency;

  WriterMeters(MeterRegistry registry) {
    this.registry = registry;
    batchSize =
        DistributionSummary.builder("keeper.persistence.batch.size")
            .description("Values per write")
            .serviceLevelObjectives(1, 2, 5, 10, 20, 50, 100, 200)
            .register(registry);
    latency =
        Timer.builder("keeper.persistence.latency")
            .description("From the first submit of the oldest value of a write until it is durable")
            .serviceLevelObjectives(
                Duration.ofMillis(5),
                Duration.ofMillis(10),
                Duration.ofMillis(25),
                Duration.ofMillis(50),
                Duration.ofMillis(100),
                Duration.ofMillis(200),
                Duration.ofMillis(500),
                Duration.ofSeconds(1),
                Duration.ofSeconds(5))
            .register(registry);
  }

  @Override
  public void flushed(Flush flush) {
    batchSize.record(flush.rows());
    latency.record(flush.oldest());
  }

  /** Shows what the writer counts by itself. */
  void bind(CoalescingWriter<?, ?> writer) {
    gauge(writer, "queue.depth", "Values that wait or are in flight", WriterMetrics::queueDepth);
    gauge(
        writer,
        "retry.queue.depth",
        "Values that wait for a retry",
        WriterMetrics::retryQueueDepth);
    gauge(writer, "bytes", "Bytes held", WriterMetrics::bytes);
    gauge(writer, "coalesce.ratio", "Submits per written value", WriterMetrics::coalesceRatio);
    count(writer, "events.coalesced", "Submits without a write", WriterMetrics::eventsCoalesced);
    count(writer, "retries.processed", "Attempts after the first", WriterMetrics::retriesProcessed);
    count(writer, "retry.success", "Values written by a retry", WriterMetrics::retrySuccess);
    count(writer, "retry.exhausted", "Values out of attempts", WriterMetrics::retryExhausted);
    count(writer, "dead", "Values set aside", WriterMetrics::dead);
    count(writer, "rejected", "Values not taken", WriterMetrics::rejected);
    count(writer, "worker.restarts", "Workers that died", WriterMetrics::workerRestarts);
    count(
        writer,
        "backpressure.timeout",
        "Callers that waited for room in vain",
        WriterMetrics::backpressureTimeouts);
  }

  private void gauge(
      CoalescingWriter<?, ?> writer,
      String name,
      String description,
      ToDoubleFunction<WriterMetrics> value) {
    Gauge.builder("keeper.persistence." + name, writer, w -> value.applyAsDouble(w.metrics()))
        .description(description)
        .register(registry);
  }

  private void count(
      CoalescingWriter<?, ?> writer,
      String name,
      String description,
      ToDoubleFunction<WriterMetrics> value) {
    FunctionCounter.builder(
            "keeper.persistence." + name, writer, w -> value.applyAsDouble(w.metrics()))
        .description(description)
        .register(registry);
  }
}
