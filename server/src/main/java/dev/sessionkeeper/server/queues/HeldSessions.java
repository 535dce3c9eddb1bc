package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds a held session by the lease id that its owner shows.
 *
 * <p>The id carries queue, session and epoch. Where leases live in the store any server goes on
 * with them; for other providers the session is kept here, and the id works on this server only.
 *
 * <p>Whether a lease is lost is the provider's to say. A kept session is forgotten a while after
 * its lease must have ended, by the monotonic clock: the lease's end is of the store's clock.
 */
final class HeldSessions implements AutoCloseable {
  private static final String KIND = "lease";

  private final Queues queues;
  private final TimeSource time;
  private final Map<String, Kept> local = new ConcurrentHashMap<>();

  HeldSessions(Queues queues, TimeSource time) {
    this.queues = queues;
    this.time = time;
  }

  /**
   * The id under which its owner will show this session.
   *
   * @throws KeeperException.LockLost if it ran out already
   */
  String add(QueueName queue, HeldSession held) {
    var epoch = held.lease().epoch();
    var id = PageCursor.after(KIND, queue.value(), held.id().value(), String.valueOf(epoch));
    if (queues.provider().sessions(queue) instanceof ResumableSessions resumable) {
      // Now, not at the first use: the lease is the caller's, and outlives this server.
      var unused =
          resumable.resume(held.id(), epoch).orElseThrow(() -> lost(held.id().value(), epoch));
    } else {
      forgetLost();
      local.put(id, Kept.from(held, queues.settings(queue).lockDuration(), time.nanoTime()));
    }
    return id;
  }

  /**
   * A handle on the session held under this id; its first call may tell that it is lost.
   *
   * @throws KeeperException.LockLost if it is known not, or no longer, to be held
   */
  HeldSession get(QueueName queue, String leaseId) {
    if (!(queues.provider().sessions(queue) instanceof ResumableSessions resumable)) {
      return Optional.ofNullable(local.get(leaseId))
          .map(Kept::session)
          .orElseThrow(() -> lost(leaseId, 0));
    }
    var key = keyOf(queue, leaseId);
    return resumable.handle(key.session(), key.epoch());
  }

  /**
   * Gives the session back.
   *
   * @throws KeeperException.LockLost if it is not, or no longer, held
   */
  void release(QueueName queue, String leaseId) {
    if (queues.provider().sessions(queue) instanceof ResumableSessions resumable) {
      var key = keyOf(queue, leaseId);
      resumable
          .resume(key.session(), key.epoch())
          .orElseThrow(() -> lost(key.session().value(), key.epoch()))
          .close();
    } else {
      get(queue, leaseId).close();
      local.remove(leaseId);
    }
  }

  /** Whether leases of this queue live in the store. */
  boolean areShared(QueueName queue) {
    return queues.provider().sessions(queue) instanceof ResumableSessions;
  }

  void remove(String leaseId) {
    local.remove(leaseId);
  }

  @Override
  public void close() {
    local.values().forEach(kept -> kept.session().close());
    local.clear();
  }

  private void forgetLost() {
    long now = time.nanoTime();
    local.replaceAll((id, kept) -> kept.seenAt(now));
    Map.copyOf(local).forEach((id, kept) -> forgetIfOver(id, kept, now));
  }

  private void forgetIfOver(String id, Kept kept, long now) {
    if (kept.isOver(now) && local.remove(id, kept)) {
      // Frees what the provider still has of the session, without making the caller wait.
      Thread.startVirtualThread(kept.session()::close);
    }
  }

  /**
   * A session that is kept here.
   *
   * @param until the end of its lease when it was last looked at, by the store's clock
   * @param lookedAt when a new end was first seen here; monotonic
   */
  private record Kept(HeldSession session, Duration lockDuration, Instant until, long lookedAt) {
    static Kept from(HeldSession session, Duration lockDuration, long now) {
      return new Kept(session, lockDuration, session.lease().until(), now);
    }

    /** The same, looked at again: a lease that has another end was renewed meanwhile. */
    Kept seenAt(long now) {
      return session.lease().until().equals(until) ? this : from(session, lockDuration, now);
    }

    boolean isOver(long now) {
      return now - lookedAt > lockDuration.toNanos();
    }
  }

  private record Key(SessionId session, long epoch) {}

  private static Key keyOf(QueueName queue, String leaseId) {
    try {
      var parts = PageCursor.keyOf(KIND, 3, leaseId);
      if (parts.get(0).equals(queue.value())) {
        return new Key(SessionId.of(parts.get(1)), Long.parseLong(parts.get(2)));
      }
    } catch (KeeperException.InvalidCursor | IllegalArgumentException e) {
      // Not an id of ours: the same to the caller as one that has run out.
    }
    throw lost("this id", 0);
  }

  private static KeeperException lost(String what, long epoch) {
    return new KeeperException.LockLost(what, epoch);
  }
}
