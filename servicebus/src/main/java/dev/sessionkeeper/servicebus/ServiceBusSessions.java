package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusSessionReceiverAsyncClient;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.AddressableSessions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sessions of one queue: hands out sessions that {@link LockSessions} has locked, and keeps the
 * locks of sessions whose head waits for its retry.
 */
final class ServiceBusSessions implements AddressableSessions, AutoCloseable {
  /**
   * The shortest wait: the broker needs a few round trips, so a shorter one would never succeed.
   */
  private static final Duration SHORTEST_WAIT = Duration.ofMillis(100);

  /** The shortest wait of a first request, which must ask the broker. */
  private static final Duration SHORTEST_FIRST_WAIT = Duration.ofMillis(400);

  private final QueueContext queue;
  private final ReadySessions ready;
  private final LockSessions locking;
  private final ShelveSessions shelf;
  private final GiveBackSessions givingBack;
  private final Map<SessionId, ServiceBusHeldSession> held = new ConcurrentHashMap<>();
  private volatile boolean closed;

  ServiceBusSessions(
      QueueContext queue, ServiceBusSessionReceiverAsyncClient client, Timing timing) {
    this.queue = queue;
    this.ready = new ReadySessions(timing.time());
    this.shelf = new ShelveSessions(queue, timing, ready);
    this.givingBack = new GiveBackSessions(queue, shelf);
    this.locking = new LockSessions(queue, client, timing, ready, shelf);
  }

  @Override
  public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
    requireOpen();
    var shortest = locking.isPending() ? SHORTEST_WAIT : SHORTEST_FIRST_WAIT;
    var taken = ready.take(longer(wait, shortest), locking::lockFor);
    requireOpen();
    if (taken.isEmpty()) {
      locking.failIfFailing();
      return new AcceptResult.NoSession();
    }
    return new AcceptResult.Accepted(hold(taken.get(), owner));
  }

  @Override
  public AcceptResult accept(SessionId session, Owner owner, Duration wait)
      throws InterruptedException {
    requireOpen();
    var holder = Optional.ofNullable(held.get(session)).filter(other -> !other.isLost());
    if (holder.isPresent()) {
      return new AcceptResult.Locked(holder.get().lease().until());
    }
    givingBack.await(session);
    var result =
        new LockNamedSession(queue, locking, ready, shelf)
            .lock(session, longer(wait, SHORTEST_WAIT));
    return switch (result) {
      case LockNamedSession.Taken taken -> new AcceptResult.Accepted(hold(taken.session(), owner));
      case LockNamedSession.Empty empty -> new AcceptResult.NoSession();
      case LockNamedSession.Elsewhere elsewhere ->
          // The broker does not tell when the lock ends; without a renewal it cannot be later.
          new AcceptResult.Locked(queue.clock().now().plus(queue.settings().lockDuration()));
    };
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  private ServiceBusHeldSession hold(OpenSession open, Owner owner) {
    var head = open.inbox.first().orElseThrow(open::lockLost);
    open.taken(queue.taken(open.id, open.record(), head));
    var until = queue.clock().now().plus(queue.settings().lockDuration());
    var lease = new Lease(open.id.value(), owner, open.epoch(), until);
    var session = new ServiceBusHeldSession(open, this, queue, lease);
    held.put(open.id, session);
    return session;
  }

  @Override
  public boolean hasReadySession() {
    if (ready.isEmpty()) {
      locking.probe();
      return false;
    }
    return true;
  }

  /** Releases a session: shelves it while its head waits, otherwise returns it to the broker. */
  void givenBack(OpenSession open, long settledUpTo) {
    givingBack.giveBack(open, settledUpTo);
  }

  void closed(ServiceBusHeldSession session) {
    held.remove(session.id(), session);
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.Closed("Queue " + queue.name);
    }
  }

  @Override
  public void close() {
    closed = true;
    List.copyOf(held.values()).forEach(ServiceBusHeldSession::close);
    givingBack.awaitAll();
    shelf.close();
    ready.close();
    locking.close();
  }
}
