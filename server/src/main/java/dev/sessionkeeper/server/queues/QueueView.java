package dev.sessionkeeper.server.queues;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.spi.QueueStats;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A queue with its settings, and with the numbers that its provider counts. */
record QueueView(
    String name, @JsonUnwrapped QueueSettings settings, @JsonUnwrapped Numbers numbers) {

  /** A page of queues, by name. */
  record Listing(List<QueueView> queues, Optional<String> nextCursor) {}

  /** The numbers of a queue. The older names ready, inFlight and dead stay until release 1.0. */
  record Numbers(
      Optional<Long> depth,
      Optional<Long> readySessions,
      Optional<Long> ready,
      Optional<Long> heldSessions,
      Optional<Long> inFlight,
      Optional<Long> deadLetters,
      Optional<Long> dead,
      Optional<Duration> oldestAge,
      Optional<Long> waiting,
      Optional<Long> parked,
      Optional<Long> paused) {

    private static Numbers of(Optional<QueueStats> stats, Optional<CountableQueues.Counts> counts) {
      var ready = stats.map(QueueStats::readySessions);
      var held = stats.map(QueueStats::heldSessions);
      var dead =
          stats
              .map(QueueStats::deadLetters)
              .or(() -> counts.map(CountableQueues.Counts::deadLetters));
      return new Numbers(
          stats.map(QueueStats::depth).or(() -> counts.map(CountableQueues.Counts::depth)),
          ready,
          ready,
          held,
          held.or(() -> counts.flatMap(each -> each.inFlight().stream().boxed().findFirst())),
          dead,
          dead,
          stats.map(QueueStats::oldestAge),
          stats.map(QueueStats::waitingSessions),
          stats.map(QueueStats::parkedSessions),
          stats.map(QueueStats::pausedSessions));
    }
  }

  static QueueView of(QueueName name, QueueSettings settings) {
    return new QueueView(name.value(), settings, Numbers.of(Optional.empty(), Optional.empty()));
  }

  static QueueView of(QueueName name, QueueSettings settings, QueueStats stats) {
    return new QueueView(name.value(), settings, Numbers.of(Optional.of(stats), Optional.empty()));
  }

  /** Returns the view for a broker that counts messages but not sessions. */
  static QueueView of(QueueName name, QueueSettings settings, CountableQueues.Counts counts) {
    return new QueueView(name.value(), settings, Numbers.of(Optional.empty(), Optional.of(counts)));
  }
}
