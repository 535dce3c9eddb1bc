package dev.sessionkeeper.processor;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;

/**
 * The slots of a processor. Their number can change while the processor runs.
 *
 * <p>I1: held sessions never exceed the requested number, except those that were held when it was
 * lowered. So when the number grows again, a slot that was about to end is kept before a new one
 * starts.
 */
final class Slots {
  private static final Logger log = ProcessorLog.LOG;

  private final ReentrantLock lock = new ReentrantLock();
  private final CopyOnWriteArrayList<Slot> live = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final Setup setup;
  private volatile boolean stopping;
  private volatile int wished;
  private volatile TakeWork work = slot -> {};

  Slots(Setup setup) {
    this.setup = setup;
  }

  /** Sets the task of the slots. Called once, before the first slot starts. */
  void doing(TakeWork taking) {
    work = taking;
  }

  /** The task that a slot repeats: accept work, do it, release it. */
  @FunctionalInterface
  interface TakeWork {
    void once(Slot slot);
  }

  List<Slot> live() {
    return live;
  }

  boolean isStopping() {
    return stopping;
  }

  /** Returns a future that completes when the last slot has ended after {@link #stop}. */
  CompletableFuture<Void> ended() {
    return ended;
  }

  /** Returns how many slots hold a session. */
  int busy() {
    int busy = 0;
    for (var slot : live) {
      if (slot.hold() != null) {
        busy++;
      }
    }
    return busy;
  }

  /**
   * Returns whether no slot is free for another session. A slot that has just released a session
   * and is about to accept the next one does not count as free. A slot that is about to start does.
   */
  boolean areAllTaken(long now) {
    if (live.size() < wished) {
      return false;
    }
    for (var slot : live) {
      if (slot.isFree(now)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns whether so few slots are free that a slot should release its idle session early, so
   * that a new session finds a free slot at once. With fewer than eight slots no slot is kept free.
   */
  boolean isCrowded() {
    int reserve = wished / 8;
    // Slots that are about to start count as free.
    int free = wished - live.size();
    for (var slot : live) {
      if (free >= reserve) {
        break;
      }
      if (slot.hold() == null) {
        free++;
      }
    }
    return free < reserve;
  }

  boolean isStillInHand(Hold hold) {
    for (var slot : live) {
      if (slot.hold() == hold) {
        return true;
      }
    }
    return false;
  }

  boolean isCurrentThreadOne() {
    for (var slot : live) {
      if (slot.isCurrentThread()) {
        return true;
      }
    }
    return false;
  }

  void resize(int count) {
    lock.lock();
    try {
      if (stopping) {
        return;
      }
      wished = count;
      var staying = new ArrayList<Slot>();
      for (var slot : live) {
        if (!slot.isRetiring()) {
          staying.add(slot);
        }
      }
      retire(staying, staying.size() - count);
      keep(count - staying.size());
    } finally {
      lock.unlock();
    }
  }

  void stop() {
    lock.lock();
    try {
      stopping = true;
      if (live.isEmpty()) {
        ended.complete(null);
      }
    } finally {
      lock.unlock();
    }
    for (var slot : live) {
      slot.waiting.interrupt();
    }
  }

  private void retire(List<Slot> staying, int surplus) {
    // Slots without a session end first, which interrupts no work. Read once, because slots accept
    // sessions meanwhile.
    var order = new ArrayDeque<Slot>();
    for (var slot : staying) {
      if (slot.hold() == null) {
        order.addFirst(slot);
      } else {
        order.addLast(slot);
      }
    }
    for (int i = 0; i < surplus; i++) {
      var slot = order.removeFirst();
      slot.retire(true);
      slot.waiting.interrupt();
    }
  }

  private void keep(int missing) {
    int open = missing;
    for (var slot : live) {
      if (open > 0 && slot.isRetiring()) {
        slot.retire(false);
        open--;
      }
    }
    for (; open > 0; open--) {
      var started = new CompletableFuture<Slot>();
      var thread = setup.threads().newThread(() -> run(started.join()));
      var slot = new Slot(this, thread, setup.jitter().split(), setup.time().nanoTime());
      live.add(slot);
      started.complete(slot);
      thread.start();
    }
  }

  private void run(Slot slot) {
    while (!endsNow(slot)) {
      try {
        work.once(slot);
      } catch (RuntimeException | Error e) {
        log.error("A slot failed; it continues after a pause, and other slots are not affected", e);
        slot.backOff(setup.time());
      }
    }
  }

  private boolean endsNow(Slot slot) {
    if (!slot.isCalledAway()) {
      return false;
    }
    lock.lock();
    try {
      if (!slot.isCalledAway()) {
        return false;
      }
      live.remove(slot);
      if (stopping && live.isEmpty()) {
        ended.complete(null);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }
}
