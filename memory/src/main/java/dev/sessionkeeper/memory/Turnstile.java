package dev.sessionkeeper.memory;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Matches ready sessions with waiting owners. It keeps the sessions with work, in the order in
 * which they became ready (S-07), the sessions that are due later, and the owners that wait; it
 * wakes one owner for each session that becomes ready.
 *
 * <p>Callers hold the lock of the session they pass. Only {@link #takeFirst} and {@link #takeDue}
 * return sessions that their caller has not locked; the caller then locks the session, checks it
 * again and registers its new status. Therefore the other methods may check without the turnstile's
 * lock that nothing is to be done: a thread that changes the session meanwhile registers it again.
 *
 * <p>All owners of a queue contend for this lock, so little is done under it: it touches only the
 * session that is passed, and {@code takeFirst} not even that.
 */
final class Turnstile {
  private static final int SPINS = 500;

  private final ReentrantLock lock = new ReentrantLock();
  private final Row<SessionEntry> ready = new Row<>((entry, place) -> entry.readyPlace = place);
  private final DueTimes<SessionEntry> due = new DueTimes<>(SessionEntry.class);
  private final LeavingEntries leaving = new LeavingEntries();
  private final WaitList owners = new WaitList();
  private final EarliestTimer nextTimer;

  private long lastEpoch;
  private boolean closed;
  // Both may be read without the lock.
  private final AtomicInteger readyCount = new AtomicInteger();
  private volatile long nextDue = Ticks.NEVER;

  Turnstile(Ticks ticks, Runnable onDue) {
    this.nextTimer = new EarliestTimer(ticks, lock, due::next, onDue);
  }

  int readyCount() {
    return readyCount.get();
  }

  boolean isDue(long now) {
    return nextDue <= now;
  }

  /**
   * Marks the session as ready, to be checked again at a moment.
   *
   * @param leaseEnd when a lease that is taken now would end: a session that is checked no later
   *     than that need not be registered again by its taker
   */
  void ready(SessionEntry entry, long moment, long leaseEnd) {
    if (entry.ready && DueTimes.isRegistered(entry, moment)) {
      return;
    }
    enter();
    try {
      lookAt(entry, entry.ready ? moment : Math.min(moment, leaseEnd));
      if (!entry.ready) {
        entry.ready = true;
        entry.readyPlace = ready.add(entry);
        countReady();
        wakeOneFor(entry);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Marks the session as not ready, to be checked again at a moment. */
  void away(SessionEntry entry, long moment) {
    if (!entry.ready && (moment == Ticks.NEVER || DueTimes.isRegistered(entry, moment))) {
      return;
    }
    enter();
    try {
      lookAt(entry, moment);
      remove(entry);
    } finally {
      lock.unlock();
    }
  }

  /** Forgets a session that is gone. */
  void forget(SessionEntry entry) {
    away(entry, Ticks.NEVER);
    if (entry.dueBucket != null) {
      forgetAll(leaving.add(entry));
    }
  }

  private void forgetAll(List<SessionEntry> gone) {
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
   * Takes the session that has waited longest. The session counts as ready until its taker, which
   * locks it, calls {@link #arrived}.
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
      var entry = ready.removeFirst();
      countReady();
      return Optional.of(new Taken(entry, place, ++lastEpoch));
    } finally {
      lock.unlock();
    }
  }

  /**
   * A session on its way from the row to an owner.
   *
   * @param epoch the epoch of its lease, if it can be taken
   */
  record Taken(SessionEntry entry, int place, long epoch) {}

  /** Records that the taker has locked the session. */
  void arrived(Taken taken) {
    var entry = taken.entry();
    if (entry.ready && entry.readyPlace == taken.place()) {
      entry.ready = false;
    }
    // Otherwise another thread has moved the session meanwhile, and it may be ready again.
  }

  /** Returns the next epoch, for an owner that accepts a chosen session. */
  long nextEpoch() {
    enter();
    try {
      return ++lastEpoch;
    } finally {
      lock.unlock();
    }
  }

  List<SessionEntry> takeDue(long now) {
    enter();
    try {
      var entries = due.takeUntil(now);
      noteNextDue();
      return entries;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Adds an owner to the waiting ones.
   *
   * @return false if it need not wait: a session is ready now, or the queue is closed
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

  /** Wakes another owner, because the one that was woken for a session did not take it. */
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
      nextTimer.stop();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes the lock. Spins briefly before parking, because the work under the lock is very short.
   */
  private void enter() {
    for (int i = 0; i < SPINS; i++) {
      if (!lock.isLocked() && lock.tryLock()) {
        return;
      }
      Thread.onSpinWait();
    }
    lock.lock();
  }

  private void wakeOneFor(SessionEntry entry) {
    // A consumer that waits for this session only has no other chance, so it goes first.
    if (entry.acceptors == null || !entry.acceptors.wakeOne()) {
      owners.wakeOne();
    }
  }

  private void lookAt(SessionEntry entry, long moment) {
    if (moment == Ticks.NEVER) {
      return;
    }
    due.register(entry, moment);
    noteNextDue();
    nextTimer.set();
  }

  private void noteNextDue() {
    long next = due.next();
    // All threads read this field, so it is written only when its value changes.
    if (nextDue != next) {
      nextDue = next;
    }
  }

  private void remove(SessionEntry entry) {
    if (entry.ready) {
      entry.ready = false;
      ready.remove(entry, entry.readyPlace);
      countReady();
    }
  }

  private void countReady() {
    // Exact readers read the count under the lock, which orders the write.
    readyCount.lazySet(ready.size());
  }
}
