package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Exposes how long the oldest lease of each queue has been held.
 *
 * <p>If the store records since when a session is held, that is used. Otherwise the age counts from
 * the first scrape that saw the lease's epoch. So the age is never too high, and at most one scrape
 * interval too low. I1: at most {@value #MOST_LEASES} leases of a queue are read, the first ones by
 * session id.
 */
final class LeaseAges {
  static final int MOST_LEASES = 1_000;

  private final TimeSource time;
  private final MultiGauge gauge;
  private Map<Lease, Long> firstSeen = Map.of();

  LeaseAges(MeterRegistry registry, TimeSource time) {
    this.time = time;
    this.gauge =
        MultiGauge.builder("keeper.queue.oldest.lease.age")
            .description("For how long the oldest lease has been held; 0 while none is held")
            .baseUnit("seconds")
            .register(registry);
  }

  private record Lease(QueueName queue, SessionId session, long epoch) {}

  /**
   * Reads the leases again.
   *
   * @param held the queues with held sessions
   * @param all the queues to expose
   */
  synchronized void refresh(Set<QueueName> all, Set<QueueName> held, InspectableQueues queues) {
    var seen = new HashMap<Lease, Long>();
    List<MultiGauge.Row<?>> rows = new ArrayList<>();
    for (var queue : all) {
      double oldest = held.contains(queue) ? oldest(queue, queues, seen) : 0;
      rows.add(MultiGauge.Row.of(Tags.of("queue", queue.value()), oldest));
    }
    firstSeen = seen;
    gauge.register(rows, true);
  }

  void clear() {
    gauge.register(List.of(), true);
  }

  private double oldest(QueueName queue, InspectableQueues queues, Map<Lease, Long> seen) {
    double oldest = 0;
    for (var view : leases(queue, queues)) {
      oldest = Math.max(oldest, seconds(queue, view, seen));
    }
    return oldest;
  }

  private double seconds(QueueName queue, SessionView view, Map<Lease, Long> seen) {
    var lease = new Lease(queue, view.id(), view.epoch());
    long since = firstSeen.getOrDefault(lease, time.nanoTime());
    seen.put(lease, since);
    return view.heldSince()
            .map(at -> java.time.Duration.between(at, time.instant()))
            .orElseGet(() -> time.since(since))
            .toMillis()
        / 1e3;
  }

  private static List<SessionView> leases(QueueName queue, InspectableQueues queues) {
    try {
      return queues
          .inspect(
              queue,
              Optional.of(SessionStatus.HELD),
              new Page.Request(MOST_LEASES, Optional.empty()))
          .items();
    } catch (KeeperException.UnknownQueue e) {
      return List.of(); // The queue was deleted after it was listed.
    }
  }
}
