package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.spi.QueueStats;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A queue with its settings, and its numbers where the provider can tell them. */
record QueueView(
    String name,
    QueueMode mode,
    int maxDeliveryCount,
    Duration lockDuration,
    Duration messageTtl,
    Duration duplicateWindow,
    PoisonPolicy poisonPolicy,
    Optional<Long> depth,
    Optional<Long> ready,
    Optional<Long> inFlight,
    Optional<Long> dead,
    Optional<Duration> oldestAge) {

  /** A page of queues, by name. */
  record Listing(List<QueueView> queues, Optional<String> nextCursor) {}

  static QueueView of(QueueName name, QueueSettings settings, Optional<QueueStats> stats) {
    return new QueueView(
        name.value(),
        settings.mode(),
        settings.maxDeliveryCount(),
        settings.lockDuration(),
        settings.messageTtl(),
        settings.duplicateWindow(),
        settings.poisonPolicy(),
        stats.map(QueueStats::depth),
        stats.map(QueueStats::readySessions),
        stats.map(QueueStats::heldSessions),
        stats.map(QueueStats::deadLetters),
        stats.map(QueueStats::oldestAge));
  }
}
