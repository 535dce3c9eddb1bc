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
        "Accepted, not yet completed or dead",
        QueueStats::depth);
    add(
        registry,
        "keeper.queue.ready.sessions",
        "sessions",
        "Wait for an owner",
        QueueStats::readySessions);
    add(
        registry,
        "keeper.queue.held.sessions",
        "sessions",
        "Leased to an owner",
        QueueStats::heldSessions);
    add(
        registry,
        "keeper.queue.waiting.sessions",
        "sessions",
        "Wait for the retry or the earliest time of their first message",
        QueueStats::waitingSessions);
    add(
        registry,
        "keeper.queue.parked.sessions",
        "sessions",
        "Set aside until a person resumes them",
        QueueStats::parkedSessions);
    add(
        registry,
        "keeper.queue.paused.sessions",
        "sessions",
        "Stopped by a person for a while",
        QueueStats::pausedSessions);
    add(
        registry,
        "keeper.queue.ready.sessions.per.slot",
        "sessions",
        "Ready sessions by slots in use: the signal to add consumers",
        stats -> ScaleSignal.of(stats).readyPerSlot());
    add(registry, "keeper.queue.dead.letters", "messages", "Set aside", QueueStats::deadLetters);
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
