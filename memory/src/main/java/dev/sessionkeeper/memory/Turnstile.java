package dev.sessionkeeper.memory;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where lanes and owners meet: lanes with work, in the order in which they became ready (S-07);
 * lanes that are due later; and owners that wait for a session, of which one is woken for each lane
 * that becomes ready.
 *
 * <p>Callers hold the lock of the lane they pass. Only {@link #takeFirst} and {@link #takeDue}
 * return lanes that their caller has not locked; the caller then locks the lane, checks it again
 * and puts it where it belongs. Therefore the other methods may check without the turnstile's lock
 * that nothing is to be done: a thread that moves the lane meanwhile returns to it.
 *
 * <p>All owners of a queue contend for this lock, so little is done under it: it touches only the
 * lane that is passed, and {@code takeFirst} not even that.
 */
final class Turnstile {
  private static final int SPINS = 500;

  private final ReentrantLock lock = new ReentrantLock();
  private final Row<Lane> ready = new Row<>((lane, place) -> lane.readyPlace = place);
  private final DueTimes<Lane> due = new DueTimes<>(Lane.class);
  private final LeavingLanes leaving = new LeavingLanes();
  private final WaitList owners = new WaitList();
  private final Alarm alarm;

  private long lastEpoch;
  private boolean closed;
  // Both may be read without the lock.
  private final AtomicInteger readyCount = new AtomicInteger();
  private volatile long nextDue = Ticks.NEVER;

  Turnstile(Ticks ticks, Runnable onDue) {
    this.alarm = new Alarm(ticks, lock, due::next, onDue);
  }

  int readyCount() {
    return readyCount.get();
  }

  boolean isDue(long now) {
    return nextDue <= now;
  }

  /**
   * Marks the lane as ready, to be checked again at a moment.
   *
   * @param leaseEnd when a lease that is taken now would end: a lane that is checked no later than
   *     that need not be registered again by its taker
   */
  void ready(Lane lane, long moment, long leaseEnd) {
    if (lane.ready && DueTimes.isRegistered(lane, moment)) {
      return;
    }
    enter();
    try {
      lookAt(lane, lane.ready ? moment : Math.min(moment, leaseEnd));
      if (!lane.ready) {
        lane.ready = true;
        lane.readyPlace = ready.add(lane);
        countReady();
        wakeOneFor(lane);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Marks the lane as not ready, to be checked again at a moment. */
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

  /** Forgets a lane that is gone. */
  void forget(Lane lane) {
    away(lane, Ticks.NEVER);
    if (lane.dueBucket != null) {
      forgetAll(leaving.add(lane));
    }
  }

  private void forgetAll(List<Lane> gone) {
    if (gone.isEmpty()) {
      return;
    }
    enter();
    try {
      gone.forEach(due::forget);
      noteNextDue();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes the lane that has waited longest. The lane counts as ready until its taker, which locks
   * it, calls {@link #arrived}.
   */
  Optional<Taken> takeFirst() {
    if (readyCount.get() == 0) {
      return Optional.empty();
    }
    enter();
    try {
      if (ready.isEmpty()) {
        return Optional.empty();
      }
      int place = ready.firstPlace();
      var lane = ready.removeFirst();
      countReady();
      return Optional.of(new Taken(lane, place, ++lastEpoch));
    } finally {
      lock.unlock();
    }
  }

  /**
   * A lane on its way from the row to an owner.
   *
   * @param epoch the epoch of its lease, if it can be taken
   */
  record Taken(Lane lane, int place, long epoch) {}

  /** Records that the taker has locked the lane. */
  void arrived(Taken taken) {
    var lane = taken.lane();
    if (lane.ready && lane.readyPlace == taken.place()) {
      lane.ready = false;
    }
    // Otherwise another thread has moved the session meanwhile, and it may be ready again.
  }

  /** Returns the next epoch, for an owner that accepts a chosen lane. */
  long nextEpoch() {
    enter();
    try {
      return ++lastEpoch;
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
   * Adds an owner to the waiting ones.
   *
   * @return false if it need not wait: a lane is ready now, or the queue is closed
   */
  boolean queueUp(Waiter owner) {
    enter();
    try {
      if (!ready.isEmpty() || closed) {
        return false;
      }
      owners.add(owner);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Removes an owner from the waiting ones. */
  void leave(Waiter owner) {
    enter();
    try {
      owners.remove(owner);
    } finally {
      lock.unlock();
    }
  }

  /** Wakes another consumer after the one that was woken for a session did not take it. */
  void wakeAnother() {
    enter();
    try {
      if (!ready.isEmpty()) {
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

  /** Spins briefly before parking, because the work under the lock is very short. */
  private void enter() {
    for (int i = 0; i < SPINS; i++) {
      if (!lock.isLocked() && lock.tryLock()) {
        return;
      }
      Thread.onSpinWait();
    }
    lock.lock();
  }

  private void wakeOneFor(Lane lane) {
    // A consumer that waits for this session only has no other chance, so it goes first.
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
    // All threads read this field, so it is written only when its value changes.
    if (nextDue != next) {
      nextDue = next;
    }
  }

  private void remove(Lane lane) {
    if (lane.ready) {
      lane.ready = false;
      ready.remove(lane, lane.readyPlace);
      countReady();
    }
  }

  private void countReady() {
    // Exact readers read the count under the lock, which orders the write.
    readyCount.lazySet(ready.size());
  }
}
