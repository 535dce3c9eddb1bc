package dev.sessionkeeper.memory;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Where lanes and owners wait for each other: lanes with work, in the order in which they became
 * ready (S-07); lanes whose time must come; and owners without a session, of whom one is woken for
 * each lane that becomes ready.
 *
 * <p>Callers hold the lock of the lane they pass. Only {@link #takeFirst} and {@link #takeDue} give
 * out lanes that their caller has not locked; the caller then locks the lane, looks again and puts
 * it where it belongs. That is why the methods may decide by a glance without the lock that nothing
 * is to be done: whoever moves the lane meanwhile comes back to it.
 */
final class Turnstile {
  private static final int SPINS = 64;

  private final ReentrantLock lock = new ReentrantLock();
  private final DueTimes<Lane> due = new DueTimes<>(Lane.class);
  private final WaitList owners = new WaitList();
  private final Alarm alarm;

  private @Nullable Lane first;
  private @Nullable Lane last;
  private int lanes;
  private boolean closed;
  // Both may be glanced at without the lock.
  private volatile int readyCount;
  private volatile long nextDue = Ticks.NEVER;

  Turnstile(Ticks ticks, Runnable onDue) {
    this.alarm = new Alarm(ticks, lock, due::next, onDue);
  }

  int readyCount() {
    return readyCount;
  }

  boolean isDue(long now) {
    return nextDue <= now;
  }

  /** The lane has work for an owner; looked at again at a moment. */
  void ready(Lane lane, long moment) {
    if (lane.ready && DueTimes.isRegistered(lane, moment)) {
      return;
    }
    enter();
    try {
      lookAt(lane, moment);
      if (!lane.ready) {
        append(lane);
        wakeOneFor(lane);
      }
    } finally {
      lock.unlock();
    }
  }

  /** The lane is for no owner now; looked at again at a moment. */
  void away(Lane lane, long moment) {
    if (!lane.ready && (moment == Ticks.NEVER || DueTimes.isRegistered(lane, moment))) {
      return;
    }
    enter();
    try {
      lookAt(lane, moment);
      remove(lane);
    } finally {
      lock.unlock();
    }
  }

  void forget(Lane lane) {
    enter();
    try {
      remove(lane);
      due.forget(lane);
      noteNextDue();
    } finally {
      lock.unlock();
    }
  }

  /** The lane that has waited longest, which will be looked at when its new lease ends. */
  Optional<Lane> takeFirst(long leaseEnd) {
    if (readyCount == 0) {
      return Optional.empty();
    }
    enter();
    try {
      var lane = first;
      if (lane == null) {
        return Optional.empty();
      }
      remove(lane);
      lookAt(lane, leaseEnd);
      return Optional.of(lane);
    } finally {
      lock.unlock();
    }
  }

  List<Lane> takeDue(long now) {
    enter();
    try {
      var lanes = due.takeUntil(now);
      noteNextDue();
      return lanes;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Lets an owner wait its turn.
   *
   * @return false when it need not: a lane is ready now, or the queue is closed
   */
  boolean queueUp(Waiter owner) {
    enter();
    try {
      if (readyCount > 0 || closed) {
        return false;
      }
      owners.add(owner);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The owner waits no longer. */
  void leave(Waiter owner) {
    enter();
    try {
      owners.remove(owner);
    } finally {
      lock.unlock();
    }
  }

  /** Somebody was woken for a lane and did not take it; then another one is. */
  void wakeAnother() {
    enter();
    try {
      if (readyCount > 0) {
        owners.wakeOne();
      }
    } finally {
      lock.unlock();
    }
  }

  void close() {
    enter();
    try {
      closed = true;
      owners.wakeAll();
      alarm.stop();
    } finally {
      lock.unlock();
    }
  }

  /** What is done under the lock is much shorter than to park and to be woken. */
  private void enter() {
    for (int i = 0; i < SPINS; i++) {
      if (lock.tryLock()) {
        return;
      }
      Thread.onSpinWait();
    }
    lock.lock();
  }

  private void wakeOneFor(Lane lane) {
    // Who waits for just this lane has no other chance, so it goes first.
    if (lane.acceptors == null || !lane.acceptors.wakeOne()) {
      owners.wakeOne();
    }
  }

  private void lookAt(Lane lane, long moment) {
    if (moment == Ticks.NEVER) {
      return;
    }
    due.register(lane, moment);
    noteNextDue();
    alarm.set();
  }

  private void noteNextDue() {
    long next = due.next();
    // Everybody glances at it, so it is written only when it changes.
    if (nextDue != next) {
      nextDue = next;
    }
  }

  private void append(Lane lane) {
    lane.ready = true;
    lane.readyBefore = last;
    if (last == null) {
      first = lane;
    } else {
      last.readyAfter = lane;
    }
    last = lane;
    lanes++;
    readyCount = lanes;
  }

  private void remove(Lane lane) {
    if (!lane.ready) {
      return;
    }
    if (lane.readyBefore == null) {
      first = lane.readyAfter;
    } else {
      lane.readyBefore.readyAfter = lane.readyAfter;
    }
    if (lane.readyAfter == null) {
      last = lane.readyBefore;
    } else {
      lane.readyAfter.readyBefore = lane.readyBefore;
    }
    lane.ready = false;
    lane.readyBefore = null;
    lane.readyAfter = null;
    lanes--;
    readyCount = lanes;
  }
}
