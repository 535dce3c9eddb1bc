package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.prefetch.PrefetchedMessages;
import dev.sessionkeeper.postgres.row.ClaimedSession;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A session that a consumer of this process holds. This process knows its open deliveries without
 * asking the database.
 *
 * <p>The database decides about the lease; this class only keeps the messages that were read under
 * it. Messages come with the claim, or by a fetch if there may be more. I1: a message that was open
 * when a fetch was sent is not taken from the answer, so no message is handed out twice. I2: a
 * message of a row that was read longer ago than {@link PrefetchedMessages#FRESH_NANOS} is read
 * again under the fence before it is handed out. I3: once other processes use the lease, every call
 * goes through {@link SharedSession}.
 */
public final class OwnedSession implements HeldSession {
  private static final Duration GIVE_BACK_AGAIN = Duration.ofMillis(250);

  private final HoldParts parts;
  private final HoldRegistry registry;
  private final Hold hold;
  private final SettleSession settling;
  private final ReceiveMessages receiving;

  /** Returns a session that was claimed as a row. */
  public static OwnedSession claimed(
      HoldParts parts, HoldRegistry owned, ClaimedSession claimed, Instant moment, long askedAt) {
    var held = new OwnedSession(parts, owned, claimed, moment, askedAt, new SessionLease.InRow());
    if (claimed.messages.size() >= parts.room().messages() || claimed.isCut()) {
      held.hold.fetched.suspectMore();
    }
    return held;
  }

  /** Returns a session that was accepted by name, without its messages. */
  static OwnedSession accepted(
      HoldParts parts, HoldRegistry owned, ClaimedSession claimed, Instant moment, long askedAt) {
    var held = new OwnedSession(parts, owned, claimed, moment, askedAt, new SessionLease.InRow());
    held.hold.fetched.suspectMore();
    return held;
  }

  /** Returns a session from the memory of the reader, which feeds it, so it fetches nothing. */
  public static OwnedSession cached(
      HoldParts parts,
      HoldRegistry owned,
      ClaimedSession claimed,
      SessionLease.InMemory lease,
      Instant moment,
      long now) {
    return new OwnedSession(parts, owned, claimed, moment, now, lease);
  }

  private OwnedSession(
      HoldParts parts,
      HoldRegistry registry,
      ClaimedSession claimed,
      Instant moment,
      long askedAt,
      SessionLease lease) {
    this.parts = parts;
    this.registry = registry;
    this.hold = new Hold(claimed, moment, askedAt, lease, parts.room().memory(), this::forget);
    this.settling = new SettleSession(parts.calls().settles(), parts.polling().requests(), hold);
    this.receiving = new ReceiveMessages(parts, hold, settling, this::requireRow);
    hold.fetched.beginRead(askedAt);
    settling.expire(
        hold.fetched.take(claimed.messages, moment, askedAt, parts.queue().time().nanoTime()));
  }

  private void forget() {
    registry.forget(hold);
  }

  /** Returns the state of this hold. */
  public Hold hold() {
    return hold;
  }

  /** Returns whether the session has a message, as far as this process knows. */
  public boolean isWorthServing() {
    return !hold.fetched.isEmpty();
  }

  /** Gives the session back, because its consumer has gone. */
  public void giveBackUnused() {
    registry.forget(hold);
    var leftover = hold.endReceiving();
    if (!isReleased(leftover)) {
      registry.givesBack(giveBack());
    }
  }

  /**
   * Gives the row back. If another transaction has it locked for too long, the session is given
   * back later: otherwise no consumer would get the session before the end of its lease.
   */
  private CompletableFuture<Void> giveBack() {
    var answer = parts.calls().settles().free(hold.id, hold.epoch);
    var time = parts.queue().time();
    var unused =
        answer.whenComplete(
            (done, error) -> {
              if (error instanceof KeeperException.Unavailable
                  && !hold.hasLeaseEnded(time.nanoTime())) {
                var unusedTimer =
                    time.schedule(
                        GIVE_BACK_AGAIN,
                        () -> {
                          var unusedAnswer = giveBack();
                        });
              }
            });
    return answer;
  }

  /** Persists the session, for operations that need a row. */
  public void requireRow() {
    if (hold.kept instanceof SessionLease.InMemory in) {
      in.cache().persist(hold);
    }
  }

  /** Gives a cached session back to the reader. Returns false if the session has a row. */
  private boolean isReleased(List<FoundMessage> leftover) {
    if (!(hold.kept instanceof SessionLease.InMemory in)) {
      return false;
    }
    boolean isDone = in.cache().release(hold, leftover, hold.isClean());
    parts.polling().requests().serveCached();
    return isDone;
  }

  @Override
  public SessionId id() {
    return hold.id;
  }

  @Override
  public Lease lease() {
    return hold.lease;
  }

  @Override
  public Duration takenFor(Duration lockDuration) {
    return hold.takenFor(lockDuration);
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    return receiving.receive(max, wait, false);
  }

  @Override
  public List<Delivery> receiveKnown(int max, Duration wait) throws InterruptedException {
    return receiving.receive(max, wait, true);
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    return settle(settlements, Optional.empty());
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    return settle(settlements, Optional.of(state));
  }

  private CompletionStage<Void> settle(
      List<Settled> settlements, Optional<SessionState.Write> state) {
    var other = hold.shared();
    if (other.isPresent()) {
      return other.get().settle(settlements, state);
    }
    var retry = settling.retryInMemory(settlements, state);
    if (hold.isInMemory() && retry.isEmpty() && !SettleSession.areCompletions(settlements, state)) {
      try {
        requireRow();
      } catch (KeeperException e) {
        return CompletableFuture.failedFuture(e);
      }
    }
    hold.lock.lock();
    try {
      hold.requireHeld();
      if (retry.isPresent() && hold.isInMemory()) {
        var again = settling.retry(retry.get(), this::requireRow);
        hold.before = again;
        return again;
      }
      var finished = settling.send(settlements, state);
      if (!settlements.isEmpty()
          && OpenDeliveries.stopsTheSession(settlements.get(settlements.size() - 1).settlement())) {
        // Prefetched messages are void: they come again, after the retried message.
        hold.fetched.forget();
        hold.fetchFew();
        hold.before = finished;
      }
      return finished;
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      hold.lock.unlock();
    }
  }

  /** Returns the settlements of this hold, for transactional handlers. */
  public SettleSession settling() {
    return settling;
  }

  @Override
  public Lease renew() {
    requireRow();
    long askedAt = parts.queue().time().nanoTime();
    var until = Futures.join(parts.calls().renewals().renew(hold.id, hold.epoch));
    hold.lock.lock();
    try {
      if (until.isEmpty()) {
        throw hold.lost();
      }
      hold.leaseEnd = askedAt + hold.lockNanos;
      hold.lease = hold.lease.until(until.get());
      return hold.lease;
    } finally {
      hold.lock.unlock();
    }
  }

  @Override
  public SessionState state() {
    var table = parts.calls().states();
    var cached =
        hold.kept instanceof SessionLease.InMemory in
            ? table.readCached(hold.id, in.readerEpoch())
            : Optional.<SessionState>empty();
    return cached.orElseGet(() -> table.read(hold.id, hold.epoch));
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    requireRow();
    return parts.calls().states().write(hold.id, hold.epoch, write);
  }

  /**
   * Lets other processes use the lease. From now on this process goes through the database too, and
   * its end does not end the lease. Returns empty if the lease is lost.
   */
  public Optional<SharedSession> share() {
    requireRow();
    Futures.quietly(hold.before());
    hold.lock.lock();
    try {
      if (hold.shared().isPresent()) {
        return hold.shared();
      }
      hold.fetched.clear();
      // From now on the database knows the open deliveries: none of them may be dropped later.
      hold.fetched.received();
      var other = SharedSession.of(parts, hold.lease);
      if (!other.writeOpen(hold.deliveries.open())) {
        return Optional.empty();
      }
      hold.kept = new SessionLease.Shared(other);
      registry.forget(hold);
      hold.news.signalAll();
      return Optional.of(other);
    } finally {
      hold.lock.unlock();
    }
  }

  @Override
  public void close() {
    boolean wasLost;
    hold.lock.lock();
    try {
      if (hold.isClosed) {
        return;
      }
      hold.isClosed = true;
      hold.news.signalAll();
      if (!hold.isInMemory()) {
        hold.fetched.clear();
      }
      wasLost = hold.isLost;
    } finally {
      hold.lock.unlock();
    }
    if (wasLost) {
      // Consumers may have waited for the end of this hold.
      parts.polling().requests().wake();
      return;
    }
    registry.forget(hold);
    try {
      if (hold.isInMemory()) {
        settling.awaitSent(); // A retry may give the session its row.
      }
      if (hold.isInMemory()) {
        // Behind its settlements. The caller of a settlement that failed has the error.
        Futures.quietly(parts.calls().settles().free(hold.id, hold.epoch, hold::fence));
        if (isReleased(hold.endReceiving())) {
          return;
        }
      }
      Futures.join(giveBack());
    } catch (KeeperException.LockLost e) {
      // Another owner has the session, which is the purpose of closing.
    }
  }

  @Override
  public boolean mayHaveMore() {
    hold.lock.lock();
    try {
      return hold.shared().isPresent()
          || hold.isLost
          || !hold.fetched.isEmpty()
          || hold.fetched.mayHaveMore();
    } finally {
      hold.lock.unlock();
    }
  }

  /** Close and settlements go through the same batches, in order. */
  @Override
  public boolean closesBehindSettlements() {
    return true;
  }
}
