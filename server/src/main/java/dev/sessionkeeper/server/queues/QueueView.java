package dev.sessionkeeper.server.queues;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.spi.QueueStats;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A queue with its settings, and its numbers where the provider can tell them. */
record QueueView(
    String name,
    @JsonUnwrapped QueueSettings settings,
    Optional<Long> depth,
    Optional<Long> ready,
    Optional<Long> inFlight,
    Optional<Long> dead,
    Optional<Duration> oldestAge,
    Optional<Long> waiting,
    Optional<Long> parked,
    Optional<Long> paused) {

  /** A page of queues, by name. */
  record Listing(List<QueueView> queues, Optional<String> nextCursor) {}

  static QueueView of(QueueName name, QueueSettings settings) {
    return of(name, settings, Numbers.NONE);
  }

  static QueueView of(QueueName name, QueueSettings settings, QueueStats stats) {
    return of(
        name,
        settings,
        new Numbers(
            Optional.of(stats.depth()),
            Optional.of(stats.readySessions()),
            Optional.of(stats.heldSessions()),
            Optional.of(stats.deadLetters()),
            Optional.of(stats.oldestAge()),
            Optional.of(stats.waitingSessions()),
            Optional.of(stats.parkedSessions()),
            Optional.of(stats.pausedSessions())));
  }

  /** What a broker counts: it knows messages, and nothing of sessions. */
  static QueueView of(QueueName name, QueueSettings settings, CountableQueues.Counts counts) {
    var inFlight = counts.inFlight().stream().boxed().findFirst();
    return of(
        name,
        settings,
        new Numbers(
            Optional.of(counts.depth()),
            Optional.empty(),
            inFlight,
            Optional.of(counts.deadLetters()),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty()));
  }

  private record Numbers(
      Optional<Long> depth,
      Optional<Long> ready,
      Optional<Long> inFlight,
      Optional<Long> dead,
      Optional<Duration> oldestAge,
      Optional<Long> waiting,
      Optional<Long> parked,
      Optional<Long> paused) {
    static final Numbers NONE =
        new Numbers(
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());
  }

  private static QueueView of(QueueName name, QueueSettings settings, Numbers numbers) {
    return new QueueView(
        name.value(),
        settings,
        numbers.depth(),
        numbers.ready(),
        numbers.inFlight(),
        numbers.dead(),
        numbers.oldestAge(),
        numbers.waiting(),
        numbers.parked(),
        numbers.paused());
  }
}
