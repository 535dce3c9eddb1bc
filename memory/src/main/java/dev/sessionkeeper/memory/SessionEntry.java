package dev.sessionkeeper.memory;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.SessionStatus;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One session: its messages, its owner and its state.
 *
 * <p>Invariants: (1) the first {@code handed} messages are open deliveries of the owner, so {@code
 * handed} is zero while the session has no owner; (2) messages behind those have growing sequence
 * numbers; (3) a session that is {@code gone} is in no map and is never used again.
 *
 * <p>{@link #lock} guards everything except {@link #readyPlace} and the fields of {@link Due}.
 */
final class SessionEntry extends Due {
  final SessionId id;
  final ReentrantLock lock = new ReentrantLock();
  final MessageRing messages = new MessageRing();

  boolean gone;
  int handed;
  boolean held;
  long epoch;
  long takenAt;
  long leaseEnd;
  @Nullable Owner owner;
  private @Nullable Instant lockedUntil;
  @Nullable Aside aside;
  SessionState state = SessionState.none();

  /** Threads of the owner that wait for a message. */
  @Nullable WaitList receivers;

  /** Threads that wait to hold just this session. */
  @Nullable WaitList acceptors;

  /**
   * Whether the session is among the ready sessions, or a thread that took it from there has not
   * locked it yet.
   */
  boolean ready;

  /** Its place among the ready sessions; only the turnstile changes it. */
  int readyPlace;

  private boolean replayedWhileHeld;

  /** Since when the time to live is stopped; {@link Ticks#NEVER} while it runs. */
  private long ttlStoppedSince = Ticks.NEVER;

  SessionEntry(SessionId id) {
    this.id = id;
  }

  boolean isHeldUnder(long claimed, long now) {
    return held && epoch == claimed && leaseEnd > now;
  }

  /** Returns whether the holder under this epoch, present or last, has no open delivery. */
  boolean isEmptyUnder(long claimed) {
    return held && epoch == claimed && messages.isEmpty();
  }

  boolean hasWork(long now) {
    return aside == null && handed < messages.size() && messages.get(handed).dueAt <= now;
  }

  /** Returns whether an owner may take the session now. */
  boolean isFreeToTake(long now) {
    return !gone && !held && hasWork(now) && expiryOf(messages.get(0)) > now;
  }

  /** Returns when a message expires: never while its session is set aside or blocked (Q-07a). */
  long expiryOf(Stored stored) {
    return isFrozen() ? Ticks.NEVER : stored.expiresAt;
  }

  /** Stops the time to live: the session is set aside, or its head blocks it. */
  void stopTtl(long now) {
    if (!isFrozen()) {
      ttlStoppedSince = now;
    }
  }

  /** Resumes the time to live unless the session is set aside; messages have not aged meanwhile. */
  void resumeTtlUnlessAside(long now) {
    if (!isFrozen() || aside != null) {
      return;
    }
    for (int i = 0; i < messages.size(); i++) {
      var stored = messages.get(i);
      stored.expiresAt += now - ttlStoppedSince;
    }
    ttlStoppedSince = Ticks.NEVER;
  }

  private boolean isFrozen() {
    return ttlStoppedSince != Ticks.NEVER;
  }

  /** Appends a message. */
  void add(Stored stored, long now) {
    beginLife(stored, now);
    messages.add(stored);
  }

  /** Adjusts the expiry of a message that arrives while the time to live is stopped. */
  private void beginLife(Stored stored, long now) {
    if (isFrozen()) {
      stored.expiresAt -= now - ttlStoppedSince;
    }
  }

  /** Returns whether the session is empty and can be forgotten (S-08). */
  boolean leavesNothing() {
    return !held
        && aside == null
        && messages.isEmpty()
        && state.bytes().length == 0
        && (acceptors == null || acceptors.isEmpty());
  }

  void take(Owner newOwner, long newEpoch, long now, long end) {
    held = true;
    takenAt = now;
    owner = newOwner;
    epoch = newEpoch;
    extend(end);
  }

  void extend(long end) {
    leaseEnd = end;
    lockedUntil = null;
  }

  /** Returns when the lease ends by the wall clock. */
  Instant lockedUntil(Ticks ticks) {
    if (lockedUntil == null) {
      lockedUntil = ticks.wallAt(leaseEnd);
    }
    return lockedUntil;
  }

  /** Ends the hold and makes open deliveries void. */
  void free() {
    held = false;
    owner = null;
    voidDeliveries();
    if (receivers != null) {
      receivers.wakeAll();
    }
  }

  /** Makes all open deliveries void: their messages are delivered again. */
  void voidDeliveries() {
    handed = 0;
    if (replayedWhileHeld) {
      messages.sortBySequence();
      replayedWhileHeld = false;
    }
  }

  /** Puts a replayed message before newer messages, but behind open deliveries (D-02). */
  void putBack(Stored stored, long now) {
    beginLife(stored, now);
    messages.insert(stored, handed);
    replayedWhileHeld |= handed > 0;
  }

  /** Removes and returns the first message. */
  Stored removeHead() {
    handed = Math.max(0, handed - 1);
    return messages.removeFirst();
  }

  void write(SessionState.Write write) {
    state = new SessionState(write.bytes().clone(), state.version() + 1);
  }

  void requireVersion(SessionState.Write write) {
    long expected = write.expectedVersion();
    if (expected != SessionState.ANY_VERSION && expected != state.version()) {
      throw new KeeperException.StaleState(id, expected, state.version());
    }
  }

  /** Refuses settlements that are not the first open deliveries, in order (S-03a). */
  void requireInOrder(List<Settled> settlements) {
    for (int i = 0; i < settlements.size(); i++) {
      long sequence = settlements.get(i).sequence();
      if (i >= handed) {
        throw new KeeperException.OutOfOrder(id, sequence, "it is not an open delivery");
      }
      long open = messages.get(i).sequence;
      if (open != sequence) {
        throw new KeeperException.OutOfOrder(id, sequence, "message " + open + " is open");
      }
      if (i > 0 && stopsTheSession(settlements.get(i - 1).settlement())) {
        throw new KeeperException.OutOfOrder(
            id, sequence, "it is void, because an earlier message will be delivered again");
      }
    }
  }

  private static boolean stopsTheSession(Settlement settlement) {
    return switch (settlement) {
      case Settlement.Retry retry -> true;
      case Settlement.Park park -> true;
      case Settlement.Complete complete -> false;
      case Settlement.DeadLetter letter -> false;
    };
  }

  /** The reason why the session has no owner until an operator resumes it. */
  record Aside(SessionStatus status, String reason, Instant since) {}
}
