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
 * Finds a held session by the lease id that its owner presents.
 *
 * <p>The id contains the session, the epoch and the issuing server, and a MAC that binds them to
 * the queue and to the credential that got the lease. If leases live in the store, every server
 * honours the id, see {@link FreshLeases}; for other providers this process keeps the session, and
 * the id works on this server only.
 *
 * <p>The provider decides whether a lease is lost. A kept session is forgotten some time after its
 * lease must have ended, by the monotonic clock, because the end of a lease is a time of the
 * store's clock.
 */
final class HeldSessions implements AutoCloseable {
  private static final String KIND = "lease";
  private static final int PARTS = 3;

  /** Stands for "in the store" in place of the name of a server that has the lease in memory. */
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
   * Writes the lease into the store if the store keeps leases.
   *
   * @return the id under which its owner presents the session
   * @throws KeeperException.LockLost if the lease has expired already
   */
  String add(QueueName queue, Actor owner, HeldSession held) {
    var epoch = held.lease().epoch();
    if (queues.provider().sessions(queue) instanceof ResumableSessions resumable) {
      // At once, not at the first use: the lease is the caller's now and outlives this server.
      var unused =
          resumable.resume(held.id(), epoch).orElseThrow(() -> lost(held.id().value(), epoch));
      return idOf(queue, owner, held, IN_STORE);
    }
    return keep(queue, owner, held);
  }

  /**
   * Keeps the lease in memory for a moment, for an owner that will probably present it here.
   *
   * @return the id under which its owner presents the session
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
   * Returns a handle on the session held under this id; its first call may say that the lease is
   * lost. Each receive begins at the first open message, even if another server has delivered some.
   *
   * @throws KeeperException.LockLost if the lease is known to be lost, or the id was never issued
   */
  HeldSession get(QueueName queue, Actor owner, String leaseId) {
    var key =
        keyOf(
            queue, owner,
            leaseId); // Checked for every provider: a lease id is valid for one credential only.
    if (!(queues.provider().sessions(queue) instanceof ResumableSessions resumable)) {
      return kept(leaseId);
    }
    others.askFor(key.server(), List.of(key.hold()));
    fresh.share(key.hold());
    return resumable.handle(key.hold().session(), key.hold().epoch());
  }

  /**
   * Returns a handle that continues behind the messages already delivered under this lease. Call
   * {@link #askFor} first.
   *
   * @throws KeeperException.LockLost if the lease is known to be lost, or the id was never issued
   */
  HeldSession goOn(QueueName queue, Actor owner, String leaseId) {
    var hold = keyOf(queue, owner, leaseId).hold();
    if (!(queues.provider().sessions(queue) instanceof ResumableSessions resumable)) {
      return kept(leaseId);
    }
    return fresh.find(hold).orElseGet(() -> resumable.handle(hold.session(), hold.epoch()));
  }

  /** Asks other servers to write these leases into the store, if one of them has them in memory. */
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
   * @throws KeeperException.LockLost if the session is not held under this id
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
   * Returns the hold that a lease id names, held or not.
   *
   * @throws KeeperException.LockLost if no server issued the id to this owner for this queue
   */
  Hold holdOf(QueueName queue, Actor owner, String leaseId) {
    return keyOf(queue, owner, leaseId).hold();
  }

  /** Returns whether leases of this queue live in the store. */
  boolean areShared(QueueName queue) {
    return queues.provider().sessions(queue) instanceof ResumableSessions;
  }

  /** Forgets a session that was found under this id and released. */
  void remove(QueueName queue, String leaseId, HeldSession session) {
    local.remove(leaseId);
    fresh.remove(new Hold(queue, session.id(), session.lease().epoch()));
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
      // Closes the provider's session in the background.
      Thread.startVirtualThread(kept.session()::close);
    }
  }

  /**
   * A session that is kept in this process.
   *
   * @param until the end of its lease as last seen, by the store's clock
   * @param lookedAt when that end was first seen here; monotonic
   */
  private record Kept(HeldSession session, Duration lockDuration, Instant until, long lookedAt) {
    static Kept from(HeldSession session, Duration lockDuration, long now) {
      return new Kept(session, lockDuration, session.lease().until(), now);
    }

    /**
     * Returns the entry after another look: if the end of the lease has changed, the lease was
     * renewed.
     */
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
   * @param server the server that had the lease in memory first, or {@link #IN_STORE}
   */
  private record Key(Hold hold, String server) {}

  /** An id that was never issued to this owner gets the same answer as one that has expired. */
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
      return Optional.empty(); // An id issued by an earlier version.
    }
  }

  private static KeeperException lost(String what, long epoch) {
    return new KeeperException.LockLost(what, epoch);
  }
}
