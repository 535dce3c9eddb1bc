package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.feature.HoldLimits.Hold;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leases that this server issued a moment ago and keeps in memory.
 *
 * <p>Most leases end within milliseconds, on the server that issued them; such a lease costs the
 * store no statement of its own. A lease is written to the store, where every server honours it,
 * when it is a second old, when another server asks for it, and when this server shuts down. A
 * server that is killed loses its fresh leases: their messages are delivered again.
 *
 * <p>Threads: any.
 */
final class FreshLeases implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FreshLeases.class);

  /** How long a lease stays in memory only, and how often older ones are looked for. */
  static final Duration FRESH = Duration.ofSeconds(1);

  private final Queues queues;
  private final TimeSource time;
  private final Map<Hold, Fresh> fresh = new ConcurrentHashMap<>();
  private final AtomicBoolean isLookDue = new AtomicBoolean();

  FreshLeases(Queues queues, TimeSource time) {
    this.queues = queues;
    this.time = time;
  }

  private record Fresh(HeldSession session, long since) {}

  void add(Hold hold, HeldSession session) {
    fresh.put(hold, new Fresh(session, time.nanoTime()));
    lookLater();
  }

  /** Returns the session while its lease is in this server's memory. */
  Optional<HeldSession> find(Hold hold) {
    return Optional.ofNullable(fresh.get(hold)).map(Fresh::session);
  }

  void remove(Hold hold) {
    fresh.remove(hold);
  }

  /** Writes a lease that is only in memory into the store; returns when every server honours it. */
  void share(Hold hold) {
    if (fresh.containsKey(hold)) {
      if (queues.provider().sessions(hold.queue()) instanceof ResumableSessions sessions) {
        var unused = sessions.resume(hold.session(), hold.epoch());
      }
      fresh.remove(hold);
    }
  }

  private void lookLater() {
    if (isLookDue.compareAndSet(false, true)) {
      var unused = time.schedule(FRESH, () -> Thread.startVirtualThread(this::shareOld));
    }
  }

  private void shareOld() {
    isLookDue.set(false);
    long now = time.nanoTime();
    shareAll(
        fresh.entrySet().stream()
            .filter(each -> now - each.getValue().since() >= FRESH.toNanos())
            .map(Map.Entry::getKey)
            .toList());
    if (!fresh.isEmpty()) {
      lookLater();
    }
  }

  private void shareAll(List<Hold> holds) {
    Together.map(holds, this::tryShare);
  }

  private boolean tryShare(Hold hold) {
    try {
      share(hold);
      return true;
    } catch (KeeperException.Unavailable | KeeperException.OutcomeUnknown e) {
      log.debug("The lease of {} stays in memory; the next look tries again", hold.session(), e);
      return false;
    } catch (KeeperException e) {
      fresh.remove(hold);
      return false;
    }
  }

  /** Writes all leases into the store, so that they outlive this server. */
  @Override
  public void close() {
    shareAll(List.copyOf(fresh.keySet()));
  }
}
