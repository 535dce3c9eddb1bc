package dev.sessionkeeper.server.activity;

import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.WriterListener;
import dev.sessionkeeper.coalescing.WriterMetrics;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.ToDoubleFunction;

/**
 * Exposes coalescing writers as the metrics {@code keeper_persistence_…}, with the label {@code
 * writer}.
 */
public final class WriterMeters implements WriterListener {
  private static final String LABEL = "writer";

  private final MeterRegistry registry;
  private final String name;
  private final DistributionSummary batchSize;
  private final Timer latency;

  public WriterMeters(MeterRegistry registry, String name) {
    this.registry = registry;
    this.name = name;
    batchSize =
        DistributionSummary.builder("keeper.persistence.batch.size")
            .description("Values per write")
            .tag(LABEL, name)
            .serviceLevelObjectives(1, 2, 5, 10, 20, 50, 100, 200)
            .register(registry);
    latency =
        Timer.builder("keeper.persistence.latency")
            .description("From the first submit of the oldest value of a write until it is durable")
            .tag(LABEL, name)
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

  /** Registers the gauges that read the writer's own counters. */
  public void bind(CoalescingWriter<?, ?> writer) {
    gauge(writer, "queue.depth", "Values that wait or are in flight", WriterMetrics::queueDepth);
    gauge(
        writer,
        "retry.queue.depth",
        "Values that wait for a retry",
        WriterMetrics::retryQueueDepth);
    gauge(writer, "bytes", "Bytes of the values that the writer holds", WriterMetrics::bytes);
    gauge(writer, "coalesce.ratio", "Submits per written value", WriterMetrics::coalesceRatio);
    count(
        writer,
        "events.coalesced",
        "Submits that needed no write of their own",
        WriterMetrics::eventsCoalesced);
    count(writer, "retries.processed", "Attempts after the first", WriterMetrics::retriesProcessed);
    count(writer, "retry.success", "Values written by a retry", WriterMetrics::retrySuccess);
    count(
        writer,
        "retry.exhausted",
        "Values that were set aside after their last attempt",
        WriterMetrics::retryExhausted);
    count(writer, "dead", "Values that were set aside", WriterMetrics::dead);
    count(writer, "rejected", "Values that were refused", WriterMetrics::rejected);
    count(
        writer,
        "worker.restarts",
        "Workers that died and were replaced",
        WriterMetrics::workerRestarts);
    count(
        writer,
        "backpressure.timeout",
        "Callers that gave up waiting for room",
        WriterMetrics::backpressureTimeouts);
  }

  private void gauge(
      CoalescingWriter<?, ?> writer,
      String metric,
      String description,
      ToDoubleFunction<WriterMetrics> value) {
    Gauge.builder("keeper.persistence." + metric, writer, w -> value.applyAsDouble(w.metrics()))
        .description(description)
        .tag(LABEL, name)
        .register(registry);
  }

  private void count(
      CoalescingWriter<?, ?> writer,
      String metric,
      String description,
      ToDoubleFunction<WriterMetrics> value) {
    FunctionCounter.builder(
            "keeper.persistence." + metric, writer, w -> value.applyAsDouble(w.metrics()))
        .description(description)
        .tag(LABEL, name)
        .register(registry);
  }
}
