package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.feature.HoldLimits;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.server.security.SignTexts;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds a held session by the lease id that its owner shows.
 *
 * <p>The id carries session and epoch, and a MAC that binds them to the queue and to the credential
 * that got the lease. Where leases live in the store any server honours them; for other providers
 * this process keeps the session, and the id works on this server only.
 *
 * <p>The provider decides whether a lease is lost. A kept session is forgotten a while after its
 * lease must have ended, by the monotonic clock: the lease's end is of the store's clock.
 */
final class HeldSessions implements AutoCloseable {
  private static final String KIND = "lease";
  private static final int PARTS = 2;

  private final Queues queues;
  private final SignTexts leases;
  private final TimeSource time;
  private final Map<String, Kept> local = new ConcurrentHashMap<>();

  HeldSessions(Queues queues, ServerSecret secret, TimeSource time) {
    this.queues = queues;
    this.leases = secret.signing(KIND);
    this.time = time;
  }

  /**
   * The id under which its owner will show this session.
   *
   * @throws KeeperException.LockLost if it ran out already
   */
  String add(QueueName queue, Actor owner, HeldSession held) {
    var epoch = held.lease().epoch();
    var id = idOf(queue, owner, held.id(), epoch);
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

  /** The id under which this owner shows the lease, whether it is held or not. */
  String idOf(QueueName queue, Actor owner, SessionId session, long epoch) {
    var key = PageCursor.after(KIND, session.value(), String.valueOf(epoch));
    return leases.sign(key, queue.value(), owner.name());
  }

  /**
   * A handle on the session held under this id; its first call may tell that it is lost.
   *
   * @throws KeeperException.LockLost if it is known not, or no longer, to be held
   */
  HeldSession get(QueueName queue, Actor owner, String leaseId) {
    var key = keyOf(queue, owner, leaseId);
    if (!(queues.provider().sessions(queue) instanceof ResumableSessions resumable)) {
      return Optional.ofNullable(local.get(leaseId))
          .map(Kept::session)
          .orElseThrow(() -> lost(leaseId, 0));
    }
    return resumable.handle(key.session(), key.epoch());
  }

  /**
   * Gives the session back.
   *
   * @throws KeeperException.LockLost if it is not, or no longer, held
   */
  void release(QueueName queue, Actor owner, String leaseId) {
    if (queues.provider().sessions(queue) instanceof ResumableSessions resumable) {
      var key = keyOf(queue, owner, leaseId);
      resumable
          .resume(key.session(), key.epoch())
          .orElseThrow(() -> lost(key.session().value(), key.epoch()))
          .close();
    } else {
      get(queue, owner, leaseId).close();
      local.remove(leaseId);
    }
  }

  /**
   * The hold that a lease id is about, whether it is still held or not.
   *
   * @throws KeeperException.LockLost if no server gave the id to this owner for this queue
   */
  HoldLimits.Hold holdOf(QueueName queue, Actor owner, String leaseId) {
    var key = keyOf(queue, owner, leaseId);
    return new HoldLimits.Hold(queue, key.session(), key.epoch());
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

  /** An id that no server gave to this owner is the same to the caller as one that has run out. */
  private Key keyOf(QueueName queue, Actor owner, String leaseId) {
    var key =
        leases.verify(leaseId, queue.value(), owner.name()).orElseThrow(() -> lost("this id", 0));
    var parts = PageCursor.keyOf(KIND, PARTS, key);
    return new Key(SessionId.of(parts.get(0)), Long.parseLong(parts.get(1)));
  }

  private static KeeperException lost(String what, long epoch) {
    return new KeeperException.LockLost(what, epoch);
  }
}
