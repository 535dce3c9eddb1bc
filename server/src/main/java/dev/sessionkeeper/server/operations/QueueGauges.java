package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueStats;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Exposes the numbers of queues, read at each scrape. */
final class QueueGauges {
  private static final int MOST_QUEUES = 500;

  private final Map<MultiGauge, ToDoubleFunction<QueueStats>> gauges = new LinkedHashMap<>();

  QueueGauges(MeterRegistry registry) {
    add(
        registry,
        "keeper.queue.depth",
        "messages",
        "Messages that are neither completed nor dead letters",
        QueueStats::depth);
    add(
        registry,
        "keeper.queue.ready.sessions",
        "sessions",
        "Sessions that wait for an owner; messages if the queue is unordered",
        QueueStats::readySessions);
    add(
        registry,
        "keeper.queue.held.sessions",
        "sessions",
        "Sessions that an owner holds; messages if the queue is unordered",
        QueueStats::heldSessions);
    add(
        registry,
        "keeper.queue.waiting.sessions",
        "sessions",
        "Sessions whose first message waits for its retry or its earliest time",
        QueueStats::waitingSessions);
    add(
        registry,
        "keeper.queue.parked.sessions",
        "sessions",
        "Sessions that are parked until an operator resumes them",
        QueueStats::parkedSessions);
    add(
        registry,
        "keeper.queue.paused.sessions",
        "sessions",
        "Sessions that an operator has paused",
        QueueStats::pausedSessions);
    add(
        registry,
        "keeper.queue.ready.sessions.per.slot",
        "sessions",
        "Ready sessions divided by slots in use; add consumers while this stays above 0",
        stats -> ScaleSignal.of(stats).readyPerSlot());
    add(
        registry,
        "keeper.queue.dead.letters",
        "messages",
        "Messages that were set aside as dead letters",
        QueueStats::deadLetters);
    add(
        registry,
        "keeper.queue.oldest.age",
        "seconds",
        "How long the oldest message has waited",
        stats -> stats.oldestAge().toNanos() / 1e9);
  }

  private void add(
      MeterRegistry registry,
      String name,
      String unit,
      String description,
      ToDoubleFunction<QueueStats> number) {
    var gauge = MultiGauge.builder(name).description(description);
    gauges.put((unit.equals("seconds") ? gauge.baseUnit(unit) : gauge).register(registry), number);
  }

  /** Reads the numbers again and returns them. */
  Map<QueueName, QueueStats> refresh(List<QueueName> names, InspectableQueues queues) {
    var all = new LinkedHashMap<QueueName, QueueStats>();
    names.stream().limit(MOST_QUEUES).forEach(name -> stats(queues, name, all));
    gauges.forEach(
        (gauge, number) ->
            gauge.register(
                all.entrySet().stream()
                    .<MultiGauge.Row<?>>map(
                        entry ->
                            MultiGauge.Row.of(
                                Tags.of("queue", entry.getKey().value()),
                                number.applyAsDouble(entry.getValue())))
                    .toList(),
                true));
    return all;
  }

  void clear() {
    gauges.keySet().forEach(gauge -> gauge.register(List.of(), true));
  }

  private static void stats(
      InspectableQueues queues, QueueName name, Map<QueueName, QueueStats> all) {
    try {
      all.put(name, queues.stats(name));
    } catch (KeeperException.UnknownQueue e) {
      // The queue was deleted after it was listed.
    }
  }
}
