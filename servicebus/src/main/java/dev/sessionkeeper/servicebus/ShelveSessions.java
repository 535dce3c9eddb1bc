package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.time.TimeSource.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the locks of sessions whose head waits, without a worker: if they were released, the broker
 * would deliver them again and again until the head is due.
 *
 * <p>When the head is due the session goes to a waiting worker, otherwise back to the broker. If
 * this process dies, the lock expires, and the next owner finds the delay in the session's record.
 */
final class ShelveSessions {
  private static final Logger log = LoggerFactory.getLogger(ShelveSessions.class);
  private static final int CAPACITY = 200;

  private final QueueContext queue;
  private final Timing timing;
  private final ReadySessions ready;
  private final Map<SessionId, Shelved> shelved = new ConcurrentHashMap<>();
  private volatile boolean closed;

  ShelveSessions(QueueContext queue, Timing timing, ReadySessions ready) {
    this.queue = queue;
    this.timing = timing;
    this.ready = ready;
  }

  boolean holds(OpenSession session) {
    var entry = shelved.get(session.id);
    return entry != null && entry.session.equals(session);
  }

  boolean holds(SessionId id) {
    return shelved.containsKey(id);
  }

  /** Shelves the session if its head is not due yet. */
  boolean shelveIfWaiting(OpenSession session) {
    var left = waitOf(session);
    if (!left.isPositive() || closed || shelved.size() >= CAPACITY) {
      return false;
    }
    var entry = new Shelved(session);
    shelved.put(session.id, entry);
    entry.timer = timing.time().schedule(shortest(left), () -> wakeUp(entry));
    return true;
  }

  private Duration waitOf(OpenSession session) {
    return session
        .inbox
        .first()
        .map(head -> queue.dueIn(head, session.record()))
        .orElse(Duration.ZERO);
  }

  private Duration shortest(Duration left) {
    var renewal = queue.settings().lockDuration().dividedBy(3);
    return left.compareTo(renewal) < 0 ? left : renewal;
  }

  private void wakeUp(Shelved entry) {
    Thread.startVirtualThread(() -> look(entry));
  }

  private void look(Shelved entry) {
    var session = entry.session;
    try {
      var left = waitOf(session);
      if (left.isPositive() && !closed && !session.isLost()) {
        session.renew();
        entry.timer = timing.time().schedule(shortest(left), () -> wakeUp(entry));
        return;
      }
      shelved.remove(session.id, entry);
      if (!handOver(session)) {
        session.close();
      }
    } catch (KeeperException e) {
      log.debug("Session {} of {} left the shelf", session.id, queue.name, e);
      shelved.remove(session.id, entry);
      session.close();
    } finally {
      ready.wake();
    }
  }

  private boolean handOver(OpenSession session) {
    if (session.isLost() || !ready.isWantedByAnyone()) {
      return false;
    }
    session.renew();
    return ready.offer(session);
  }

  void close() {
    closed = true;
    for (var entry : List.copyOf(shelved.values())) {
      entry.timer.cancel();
      entry.session.close();
    }
    shelved.clear();
  }

  private static final class Shelved {
    final OpenSession session;
    volatile Timer timer = () -> {};

    Shelved(OpenSession session) {
      this.session = session;
    }
  }
}
