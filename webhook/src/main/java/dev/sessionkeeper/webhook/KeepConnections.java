package dev.sessionkeeper.webhook;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps idle connections for reuse, each for a short time. Any thread may call it.
 *
 * <p>The one used last is reused first, so that unneeded ones expire.
 */
final class KeepConnections {
  private static final int MOST_OF_A_TARGET = 64;
  private static final int MOST = 256;
  private static final Duration DISTRUST = Duration.ofMinutes(5);

  private final TimeSource time;
  private final Map<TargetConnection.Target, ArrayDeque<Kept>> kept = new HashMap<>();
  private final Map<TargetConnection.Target, Long> distrusted = new HashMap<>();
  private int count;
  private boolean sweeping;

  KeepConnections(TimeSource time) {
    this.time = time;
  }

  private record Kept(TargetConnection connection, long since, Duration most) {}

  /** Returns a connection that seems to be open, as far as one can know without sending. */
  Optional<TargetConnection> take(TargetConnection.Target target) {
    for (var next = poll(target); next.isPresent(); next = poll(target)) {
      var connection = next.get().connection();
      if (!isOld(next.get()) && connection.isQuiet()) {
        return Optional.of(connection);
      }
      connection.close();
    }
    return Optional.empty();
  }

  private synchronized Optional<Kept> poll(TargetConnection.Target target) {
    var its = kept.get(target);
    if (its == null) {
      return Optional.empty();
    }
    var next = Optional.ofNullable(its.pollLast());
    if (next.isPresent()) {
      count--;
    }
    if (its.isEmpty()) {
      kept.remove(target);
    }
    return next;
  }

  /**
   * Records that a kept connection to this target broke. Some receivers close after an answer
   * without announcing it, and a request that meets the close is lost. For a while each request to
   * the target gets a new connection.
   */
  synchronized void distrust(TargetConnection.Target target) {
    distrusted.values().removeIf(since -> time.since(since).compareTo(DISTRUST) >= 0);
    distrusted.put(target, time.nanoTime());
  }

  private boolean isTrusted(TargetConnection.Target target) {
    var since = distrusted.get(target);
    return since == null || time.since(since).compareTo(DISTRUST) >= 0;
  }

  /** Keeps a connection, at most for this long. */
  void give(TargetConnection connection, Duration most) {
    if (!keep(new Kept(connection, time.nanoTime(), most))) {
      connection.close();
    }
  }

  private synchronized boolean keep(Kept one) {
    var target = one.connection().target();
    var its = kept.getOrDefault(target, new ArrayDeque<>());
    if (count >= MOST || its.size() >= MOST_OF_A_TARGET || !isTrusted(target)) {
      return false;
    }
    kept.put(target, its);
    its.add(one);
    count++;
    if (!sweeping) {
      sweeping = true;
      time.schedule(one.most(), this::sweep);
    }
    return true;
  }

  /** Closes expired connections, and schedules itself again while others remain. */
  private void sweep() {
    var old = new ArrayList<Kept>();
    synchronized (this) {
      kept.values().forEach(its -> its.removeIf(one -> isOld(one) && old.add(one)));
      kept.values().removeIf(ArrayDeque::isEmpty);
      count -= old.size();
      sweeping = count > 0;
      if (sweeping) {
        time.schedule(shortest(List.copyOf(kept.values())), this::sweep);
      }
    }
    old.forEach(one -> one.connection().close());
  }

  private static Duration shortest(List<ArrayDeque<Kept>> all) {
    return all.stream()
        .flatMap(ArrayDeque::stream)
        .map(Kept::most)
        .min(Duration::compareTo)
        .orElseThrow();
  }

  private boolean isOld(Kept one) {
    return time.since(one.since()).compareTo(one.most()) >= 0;
  }
}
