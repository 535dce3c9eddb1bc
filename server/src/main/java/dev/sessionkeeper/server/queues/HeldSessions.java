package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.feature.HoldLimits.Hold;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.server.security.SignTexts;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds a held session by the lease id that its owner shows.
 *
 * <p>The id carries session, epoch and the server that handed the lease out, and a MAC that binds
 * them to the queue and to the credential that got the lease. Where leases live in the store any
 * server honours them, see {@link FreshLeases}; for other providers this process keeps the session,
 * and the id works on this server only.
 *
 * <p>The provider decides whether a lease is lost. A kept session is forgotten a while after its
 * lease must have ended, by the monotonic clock: the lease's end is of the store's clock.
 */
final class HeldSessions implements AutoCloseable {
  private static final String KIND = "lease";
  private static final int PARTS = 3;

  /** In place of the server that has the lease in its memory: the store has it. */
  private static final String IN_STORE = "";

  private final Queues queues;
  private final SignTexts leases;
  private final TimeSource time;
  private final FreshLeases fresh;
  private final AskForLeases others;
  private final Map<String, Kept> local = new ConcurrentHashMap<>();

  HeldSessions(Queues queues, ServerSecret secret, Optional<Notices> notices, TimeSource time) {
    this.queues = queues;
    this.leases = secret.signing(KIND);
    this.time = time;
    this.fresh = new FreshLeases(queues, time);
    this.others = new AskForLeases(notices, fresh, time);
  }

  /**
   * Puts the lease into the store, where there is one for leases.
   *
   * @return the id under which its owner will show this session
   * @throws KeeperException.LockLost if it ran out already
   */
  String add(QueueName queue, Actor owner, HeldSession held) {
    var epoch = held.lease().epoch();
    if (queues.provider().sessions(queue) instanceof ResumableSessions resumable) {
      // Now, not at the first use: the lease is the caller's, and outlives this server.
      var unused =
          resumable.resume(held.id(), epoch).orElseThrow(() -> lost(held.id().value(), epoch));
      return idOf(queue, owner, held, IN_STORE);
    }
    return keep(queue, owner, held);
  }

  /**
   * Keeps the lease in memory for a moment, for an owner that will show it here in all likelihood.
   *
   * @return the id under which its owner will show this session
   */
  String addFresh(QueueName queue, Actor owner, HeldSession held) {
    if (queues.provider().sessions(queue) instanceof ResumableSessions) {
      fresh.add(new Hold(queue, held.id(), held.lease().epoch()), held);
      return idOf(queue, owner, held, others.node());
    }
    return keep(queue, owner, held);
  }

  private String keep(QueueName queue, Actor owner, HeldSession held) {
    forgetLost();
    var id = idOf(queue, owner, held, others.node());
    local.put(id, Kept.from(held, queues.settings(queue).lockDuration(), time.nanoTime()));
    return id;
  }

  private String idOf(QueueName queue, Actor owner, HeldSession held, String server) {
    var key =
        PageCursor.after(KIND, held.id().value(), String.valueOf(held.lease().epoch()), server);
    return leases.sign(key, queue.value(), owner.name());
  }

  /**
   * A handle on the session held under this id; its first call may tell that it is lost. Each
   * receive begins at the first open message, also after another server has handed some out.
   *
   * @throws KeeperException.LockLost if it is known not, or no longer, to be held
   */
  HeldSession get(QueueName queue, Actor owner, String leaseId) {
    var key = keyOf(queue, owner, leaseId); // Whatever the provider: an id is of one credential.
    if (!(queues.provider().sessions(queue) instanceof ResumableSessions resumable)) {
      return kept(leaseId);
    }
    others.askFor(key.server(), List.of(key.hold()));
    fresh.share(key.hold());
    return resumable.handle(key.hold().session(), key.hold().epoch());
  }

  /**
   * A handle on the session held under this id that goes on behind what was handed out. Call {@link
   * #askFor} first.
   *
   * @throws KeeperException.LockLost if it is known not, or no longer, to be held
   */
  HeldSession goOn(QueueName queue, Actor owner, String leaseId) {
    var hold = keyOf(queue, owner, leaseId).hold();
    if (!(queues.provider().sessions(queue) instanceof ResumableSessions resumable)) {
      return kept(leaseId);
    }
    return fresh.find(hold).orElseGet(() -> resumable.handle(hold.session(), hold.epoch()));
  }

  /** Lets other servers put these leases into the store, if one of them has them in memory. */
  void askFor(QueueName queue, Actor owner, Stream<String> leaseIds) {
    if (areShared(queue)) {
      leaseIds
          .flatMap(id -> verified(queue, owner, id).stream())
          .filter(key -> !key.server().equals(IN_STORE))
          .collect(
              Collectors.groupingBy(
                  Key::server, Collectors.mapping(Key::hold, Collectors.toList())))
          .forEach(others::askFor);
    }
  }

  private HeldSession kept(String leaseId) {
    return Optional.ofNullable(local.get(leaseId))
        .map(Kept::session)
        .orElseThrow(() -> lost(leaseId, 0));
  }

  /**
   * Releases the session.
   *
   * @throws KeeperException.LockLost if it is not, or no longer, held
   */
  void release(QueueName queue, Actor owner, String leaseId) {
    var key = keyOf(queue, owner, leaseId);
    if (queues.provider().sessions(queue) instanceof ResumableSessions resumable) {
      others.askFor(key.server(), List.of(key.hold()));
      resumable
          .resume(key.hold().session(), key.hold().epoch())
          .orElseThrow(() -> lost(key.hold().session().value(), key.hold().epoch()))
          .close();
      fresh.remove(key.hold());
    } else {
      kept(leaseId).close();
      local.remove(leaseId);
    }
  }

  /**
   * The hold that a lease id is about, whether it is still held or not.
   *
   * @throws KeeperException.LockLost if no server gave the id to this owner for this queue
   */
  Hold holdOf(QueueName queue, Actor owner, String leaseId) {
    return keyOf(queue, owner, leaseId).hold();
  }

  /** Returns whether leases of this queue live in the store. */
  boolean areShared(QueueName queue) {
    return queues.provider().sessions(queue) instanceof ResumableSessions;
  }

  /** The session was released. */
  void remove(QueueName queue, Actor owner, String leaseId) {
    local.remove(leaseId);
    fresh.remove(holdOf(queue, owner, leaseId));
  }

  @Override
  public void close() {
    others.close();
    fresh.close();
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

  /**
   * The parts of a lease id.
   *
   * @param server the server that had the lease in its memory first, or {@link #IN_STORE}
   */
  private record Key(Hold hold, String server) {}

  /** An id that no server gave to this owner is the same to the caller as one that has run out. */
  private Key keyOf(QueueName queue, Actor owner, String leaseId) {
    return verified(queue, owner, leaseId).orElseThrow(() -> lost("this id", 0));
  }

  private Optional<Key> verified(QueueName queue, Actor owner, String leaseId) {
    return leases.verify(leaseId, queue.value(), owner.name()).flatMap(key -> parsed(queue, key));
  }

  private static Optional<Key> parsed(QueueName queue, String key) {
    try {
      var parts = PageCursor.keyOf(KIND, PARTS, key);
      var hold = new Hold(queue, SessionId.of(parts.get(0)), Long.parseLong(parts.get(1)));
      return Optional.of(new Key(hold, parts.get(2)));
    } catch (KeeperException.InvalidCursor e) {
      return Optional.empty(); // An id of an earlier version.
    }
  }

  private static KeeperException lost(String what, long epoch) {
    return new KeeperException.LockLost(what, epoch);
  }
}
