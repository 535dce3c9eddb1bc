package dev.sessionkeeper.micrometer;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The depth, sessions by status, dead letters and oldest age of one queue, as gauges.
 *
 * <p>The numbers are kept for a second, so that one scrape asks the store once. While the store
 * does not answer, the gauges are NaN.
 */
public final class QueueMeters implements MeterBinder {
  private static final Logger log = LoggerFactory.getLogger(QueueMeters.class);
  private static final Duration KEPT = Duration.ofSeconds(1);

  private final InspectableQueues queues;
  private final QueueName queue;
  private final TimeSource time;
  private Optional<QueueStats> stats = Optional.empty();
  private @Nullable Long readAt;

  private QueueMeters(InspectableQueues queues, QueueName queue, TimeSource time) {
    this.queues = queues;
    this.queue = queue;
    this.time = time;
  }

  public static QueueMeters of(InspectableQueues queues, QueueName queue) {
    return of(queues, queue, TimeSource.system());
  }

  /** Returns the gauges with another clock. */
  public static QueueMeters of(InspectableQueues queues, QueueName queue, TimeSource time) {
    return new QueueMeters(queues, queue, time);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    gauge(registry, "depth", "Messages not yet completed or dead", QueueStats::depth);
    gauge(registry, "sessions.ready", "Sessions that wait for an owner", QueueStats::readySessions);
    gauge(
        registry,
        "sessions.held",
        "Sessions with an owner, in any process",
        QueueStats::heldSessions);
    gauge(
        registry,
        "sessions.waiting",
        "Sessions whose head is not due",
        QueueStats::waitingSessions);
    gauge(
        registry,
        "sessions.parked",
        "Sessions set aside until a person resumes them",
        QueueStats::parkedSessions);
    gauge(registry, "dead.letters", "Messages set aside", QueueStats::deadLetters);
    TimeGauge.builder(
            "sessionkeeper.queue.oldest.age",
            () -> value(each -> each.oldestAge().toMillis()),
            TimeUnit.MILLISECONDS)
        .description("How long the oldest message has waited")
        .tag("queue", queue.value())
        .strongReference(true)
        .register(registry);
  }

  private void gauge(
      MeterRegistry registry,
      String name,
      String description,
      ToDoubleFunction<QueueStats> number) {
    Gauge.builder("sessionkeeper.queue." + name, () -> value(number))
        .description(description)
        .tag("queue", queue.value())
        .strongReference(true)
        .register(registry);
  }

  private double value(ToDoubleFunction<QueueStats> number) {
    return stats().map(number::applyAsDouble).orElse(Double.NaN);
  }

  private synchronized Optional<QueueStats> stats() {
    if (readAt == null || time.since(readAt).compareTo(KEPT) >= 0) {
      stats = read();
      readAt = time.nanoTime();
    }
    return stats;
  }

  private Optional<QueueStats> read() {
    try {
      return Optional.of(queues.stats(queue));
    } catch (KeeperException e) {
      log.debug("Could not read the numbers of {}", queue, e);
      return Optional.empty();
    }
  }
}
