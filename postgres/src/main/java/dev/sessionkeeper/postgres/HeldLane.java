package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A session that this process took: it knows what is in hand without asking the database.
 *
 * <p>The database decides about the lease; here is only kept what was read under it. Messages come
 * with the claim, or by a fetch when something is known, or may be suspected, to be there. I1: a
 * message that was in hand when a fetch was sent is not taken from its answer, so none is handed
 * out twice. I2: what was read longer ago than {@link Fetched#FRESH_NANOS} is read again under the
 * fence before it is handed out. I3: once the lease is shared with other processes, everything goes
 * through {@link SharedLane}.
 */
final class HeldLane implements HeldSession {
  private final HoldParts parts;
  private final Hold hold;
  private final SettleLane settling;
  private final ReceiveMessages receiving;

  /**
   * A session that was claimed as a row.
   *
   * @param batch how many messages it could bring
   */
  static HeldLane claimed(
      HoldParts parts, ClaimedLane claimed, Instant moment, long askedAt, int batch) {
    var held = new HeldLane(parts, claimed, moment, askedAt, new SessionLease.InRow());
    if (claimed.messages.size() >= batch || claimed.isCut()) {
      held.hold.fetched.suspectMore();
    }
    return held;
  }

  /** A session that is carried: everything that is known of it comes without being asked for. */
  static HeldLane cached(
      HoldParts parts, ClaimedLane claimed, SessionLease.InMemory lease, Instant moment, long now) {
    return new HeldLane(parts, claimed, moment, now, lease);
  }

  private HeldLane(
      HoldParts parts, ClaimedLane claimed, Instant moment, long askedAt, SessionLease lease) {
    this.parts = parts;
    this.hold =
        new Hold(
            claimed, moment, askedAt, lease, parts.room().memory(), () -> parts.owned().forget(this));
    this.settling = new SettleLane(parts.calls().settles(), parts.polling().requests(), hold);
    this.receiving = new ReceiveMessages(parts, hold, settling, this::requireRow);
    hold.fetched.beginRead(askedAt);
    settling.expire(hold.fetched.take(claimed.messages, moment, askedAt, parts.queue().time().nanoTime()));
  }

  /** Whether there is anything to do in it, as far as is known. */
  boolean isWorthServing() {
    return !hold.fetched.isEmpty();
  }

  /** Nobody wants it after all. */
  void giveBackUnused() {
    parts.owned().forget(this);
    var leftover = endReceiving();
    if (!isReleased(leftover)) {
      parts.owned().givesBack(parts.calls().settles().free(hold.id, hold.epoch));
    }
  }

  /** Returns whether it has a row; else it is only in memory. */
  boolean hasRow() {
    return !hold.isInMemory();
  }

  long heldSince() {
    return hold.heldSince;
  }

  /** When something was last handed out. */
  long lastMoved() {
    return hold.lastMoved;
  }

  /** Whether nothing has moved since then. One that is being given back moves. */
  boolean isQuietSince(long then) {
    return !hold.isClosed && hold.lastMoved - then < 0;
  }

  /** Returns whether it has been given back, or its lease has ended. */
  boolean isOver(long now) {
    hold.lock.lock();
    try {
      return hold.isClosed || now - hold.leaseEnd >= 0;
    } finally {
      hold.lock.unlock();
    }
  }

  /** How many messages of it are in memory and in nobody's hands. */
  int notHandedOut() {
    hold.lock.lock();
    try {
      return hold.fetched.size();
    } finally {
      hold.lock.unlock();
    }
  }

  /** Lets it have a lane, for what only lanes can do. */
  void requireRow() {
    if (hold.kept instanceof SessionLease.InMemory in) {
      in.cache().persist(this);
    }
  }

  /** Returns what its row must say. */
  HoldSnapshot snapshot() {
    hold.lock.lock();
    try {
      var left = Duration.ofNanos(Math.max(0, hold.leaseEnd - parts.queue().time().nanoTime()));
      return new HoldSnapshot(
          hold.id, hold.epoch, hold.lease.owner().name(), left, hold.lastHandedOut);
    } finally {
      hold.lock.unlock();
    }
  }

  /**
   * It has a lane now, and is read as one.
   *
   * @param leaseEnd when the lease runs out; null when that is not known
   */
  void written(@Nullable Instant leaseEnd) {
    hold.lock.lock();
    try {
      if (leaseEnd != null) {
        hold.lease = hold.lease.until(leaseEnd);
      }
      if (hold.isInMemory()) {
        hold.kept = new SessionLease.InRow();
      }
      hold.fetched.forget();
      hold.news.signalAll();
    } finally {
      hold.lock.unlock();
    }
  }

  /** A message has come for it; false when it takes no more. */
  boolean feed(FoundMessage found) {
    hold.lock.lock();
    try {
      if (hold.isClosed || hold.isLost || !hold.isInMemory()) {
        return false;
      }
      hold.fetched.feed(found);
      hold.news.signalAll();
      return true;
    } finally {
      hold.lock.unlock();
    }
  }

  /** What was never handed out. */
  private List<FoundMessage> endReceiving() {
    hold.lock.lock();
    try {
      hold.isClosed = true;
      hold.news.signalAll();
      return hold.fetched.takeAll();
    } finally {
      hold.lock.unlock();
    }
  }

  /** Gives a session in memory back there; returns false when it has a row. */
  private boolean isReleased(List<FoundMessage> leftover) {
    if (!(hold.kept instanceof SessionLease.InMemory in)) {
      return false;
    }
    boolean isClean;
    hold.lock.lock();
    try {
      isClean = hold.inHand.size() == 0;
    } finally {
      hold.lock.unlock();
    }
    boolean isDone = in.cache().release(this, leftover, isClean);
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

  long epoch() {
    return hold.epoch;
  }

  /** New messages have come for it. */
  void tellNews() {
    hold.suspectMore();
  }

  /** Somebody may have taken it: nothing is handed out before the database was asked. */
  void doubt() {
    hold.lock.lock();
    try {
      hold.fetched.forget();
      hold.news.signalAll();
    } finally {
      hold.lock.unlock();
    }
  }

  /** This process has taken the session again, so the lease of this hold is gone. */
  void superseded() {
    hold.lock.lock();
    try {
      hold.lost();
    } finally {
      hold.lock.unlock();
    }
  }

  /**
   * Whether its first messages were hold.fetched but nobody wanted them for a while; then they are
   * not in hand, and the caller says so to the database.
   */
  boolean dropUnreceived(long now, CompletableFuture<?> said) {
    hold.lock.lock();
    try {
      if (hold.isClosed || hold.isLost || hold.isInMemory() || !hold.fetched.dropUnreceived(now)) {
        return false;
      }
      hold.before = said;
      return true;
    } finally {
      hold.lock.unlock();
    }
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
    if (hold.isInMemory() && !SettleLane.areCompletions(settlements, state)) {
      try {
        requireRow();
      } catch (KeeperException e) {
        return CompletableFuture.failedFuture(e);
      }
    }
    hold.lock.lock();
    try {
      hold.requireHeld();
      var finished = settling.send(settlements, state);
      if (!settlements.isEmpty()
          && InHand.stopsTheSession(settlements.get(settlements.size() - 1).settlement())) {
        // Void: it comes again, behind the message that is tried again.
        hold.fetched.forget();
        hold.before = finished;
      }
      return finished;
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      hold.lock.unlock();
    }
  }

  /** How it is settled, for who does that in a transaction of its own. */
  SettleLane settling() {
    return settling;
  }

  @Override
  public Lease renew() {
    requireRow();
    long askedAt = parts.queue().time().nanoTime();
    var until = Waits.join(parts.calls().renewals().renew(hold.id, hold.epoch));
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
   * Hands the lease over to the database, for handles of other processes; this one goes through it
   * from now on too, and the end of this process does not end it. Empty when it is lost.
   */
  Optional<SharedLane> share() {
    requireRow();
    Waits.quietly(hold.before());
    hold.lock.lock();
    try {
      if (hold.shared().isPresent()) {
        return hold.shared();
      }
      hold.fetched.clear();
      // From here on the database knows what is in hand: nothing of it is to be dropped later.
      hold.fetched.received();
      var other = SharedLane.of(parts, hold.lease);
      if (!other.putInHand(hold.inHand.open())) {
        return Optional.empty();
      }
      hold.kept = new SessionLease.Shared(other);
      parts.owned().forget(this);
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
      // Others may have waited for the end of this hold.
      parts.polling().requests().wake();
      return;
    }
    parts.owned().forget(this);
    try {
      if (hold.isInMemory()) {
        // Behind its settlements; whoever sent one that failed was told.
        Waits.quietly(parts.calls().settles().free(hold.id, hold.epoch, hold::fence));
        if (isReleased(endReceiving())) {
          return;
        }
      }
      Waits.join(parts.calls().settles().free(hold.id, hold.epoch));
    } catch (KeeperException.LockLost e) {
      // Somebody else has it, which is what closing is for.
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

  /** Both go through the same groups, in order. */
  @Override
  public boolean closesBehindSettlements() {
    return true;
  }
}
