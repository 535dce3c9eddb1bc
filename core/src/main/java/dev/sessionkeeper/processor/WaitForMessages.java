package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.spi.SessionSource;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Waits for the next messages of a held session. Gives up when the session is idle for too long, or
 * when another session needs the slot.
 *
 * <p>The idle time counts from the end of the last handler, because no handler runs during this
 * wait.
 */
final class WaitForMessages {
  /**
   * How often an idle session checks whether another session needs the slot, while all slots are
   * taken. A session that has been idle for a shorter time checks sooner: after as much time again.
   * So a busy slot hardly sleeps, and a long idle one polls rarely.
   */
  private static final long LOOK_WHEN_FULL = Pause.nanos(Duration.ofMillis(50));

  /** How often an idle session checks while slots are free, because they may fill up meanwhile. */
  private static final long LOOK_WHEN_FREE = Pause.nanos(Duration.ofSeconds(1));

  private static final long SHORTEST_LOOK = Pause.nanos(Duration.ofMillis(1));

  /** The result of waiting. */
  sealed interface Next {}

  /** Messages arrived, in order. */
  record Come(List<Delivery> batch) implements Next {}

  /** No messages; the session is to be released. */
  record Over(CloseReason reason) implements Next {}

  /** The provider failed, and the failure was reported. */
  record Failed() implements Next {}

  private final SessionSource source;
  private final Slots slots;
  private final LoseLease losses;
  private final Report report;
  private final TimeSource time;
  private final long idleNanos;

  WaitForMessages(Setup setup, SessionSource source, Slots slots, LoseLease losses) {
    this.source = source;
    this.slots = slots;
    this.losses = losses;
    this.report = setup.report();
    this.time = setup.time();
    this.idleNanos = Pause.nanos(setup.options().sessionIdleTimeout());
  }

  /**
   * Waits for the next messages.
   *
   * @param idleSince the end of the last handler, or the beginning of the hold
   * @param endsAt when the hold ends at the latest
   */
  Next next(Slot slot, SessionHold hold, int most, long idleSince, long endsAt) {
    if (!hold.session.mayHaveMore() && (slots.isCrowded() || isSlotNeeded(idleSince))) {
      return new Over(CloseReason.DRAINED);
    }
    var next = now(slot, hold, most);
    while (next.isEmpty()) {
      long now = time.nanoTime();
      var over = over(slot, hold, now, idleSince, endsAt);
      if (over.isPresent()) {
        return new Over(over.get());
      }
      long idle = now - idleSince;
      long left = Math.min(idleNanos - idle, endsAt - now);
      long longest = noneIsFree(now) ? LOOK_WHEN_FULL : LOOK_WHEN_FREE;
      long look = Math.clamp(idle, SHORTEST_LOOK, longest);
      next = receive(slot, hold, most, Math.min(left, look));
    }
    return next.get();
  }

  /** Returns messages that are available without waiting. */
  Optional<Next> now(Slot slot, SessionHold hold, int most) {
    return receive(slot, hold, most, 0);
  }

  /** Returns whether the lease has expired by the local clock, and ends the hold if so. */
  boolean isPastDeadline(Hold hold, long now) {
    if (!hold.isPastDeadline(now)) {
      return false;
    }
    losses.lost(hold, Phase.RENEW, hold.lockLost());
    return true;
  }

  private Optional<CloseReason> over(Slot slot, Hold hold, long now, long idleSince, long endsAt) {
    if (!hold.isHeld() || isPastDeadline(hold, now)) {
      return Optional.of(
          hold.status() == Hold.Status.LOST ? CloseReason.LOCK_LOST : CloseReason.SHUTDOWN);
    }
    if (slot.isCalledAway()) {
      return Optional.of(slot.isRetiring() ? CloseReason.RELEASED : CloseReason.SHUTDOWN);
    }
    if (now - endsAt >= 0) {
      return Optional.of(CloseReason.MAX_DURATION);
    }
    if (now - idleSince >= idleNanos) {
      return Optional.of(CloseReason.IDLE);
    }
    return slots.isCrowded() || isSlotWanted(now)
        ? Optional.of(CloseReason.DRAINED)
        : Optional.empty();
  }

  private boolean isSlotNeeded(long now) {
    return noneIsFree(now) && isSessionWaiting();
  }

  /** Returns whether no slot could accept another session: all are taken, or the source is full. */
  private boolean noneIsFree(long now) {
    return slots.areAllTaken(now) || source.isFull();
  }

  /**
   * Returns whether a session waits that only this slot would accept. Checks twice. Correctness
   * does not depend on the answer: a wrong one only delays the next check.
   */
  @SuppressWarnings("ThreadPriorityCheck") // Nothing relies on it: without it one looks later.
  private boolean isSlotWanted(long now) {
    if (!noneIsFree(now)) {
      // A free slot may only look taken because its thread has not run yet: let other threads run
      // first.
      Thread.yield();
      if (!noneIsFree(time.nanoTime())) {
        return false;
      }
    }
    return isSessionWaiting();
  }

  private boolean isSessionWaiting() {
    try {
      return source.hasReadySession();
    } catch (RuntimeException e) {
      report.failed(Phase.ACCEPT, e);
      return false;
    }
  }

  private Optional<Next> receive(Slot slot, SessionHold hold, int most, long waitNanos) {
    var received = new Received(hold, most, waitNanos);
    slot.waitUnlessCalledAway(received);
    return received.next;
  }

  /**
   * One receive, followed by a pause if the provider answered "nothing" sooner than the requested
   * wait.
   */
  private final class Received implements Slot.Wait {
    private final SessionHold hold;
    private final int most;
    private final long waitNanos;
    private Optional<Next> next = Optional.empty();

    Received(SessionHold hold, int most, long waitNanos) {
      this.hold = hold;
      this.most = most;
      this.waitNanos = waitNanos;
    }

    @Override
    public void run() throws InterruptedException {
      long asked = waitNanos > 0 ? time.nanoTime() : 0;
      try {
        var batch = hold.session.receiveKnown(most, Duration.ofNanos(waitNanos));
        if (!batch.isEmpty()) {
          next = Optional.of(new Come(batch));
          return;
        }
      } catch (KeeperException.LockLost e) {
        losses.lost(hold, Phase.RECEIVE, e);
        next = Optional.of(new Over(CloseReason.LOCK_LOST));
        return;
      } catch (RuntimeException e) {
        report.failed(Phase.RECEIVE, hold, e);
        next = Optional.of(new Failed());
        return;
      }
      if (waitNanos <= 0) {
        return;
      }
      long waited = time.nanoTime() - asked;
      if (waited < waitNanos / 2) {
        // The head waits for its retry, or the provider does not wait: another receive at once
        // would spin.
        Pause.sleep(time, Duration.ofNanos(Math.min(waitNanos - waited, LOOK_WHEN_FULL)));
      }
    }
  }
}
