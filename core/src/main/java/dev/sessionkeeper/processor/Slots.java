package dev.sessionkeeper.processor;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The places for sessions; as many as wished, also while running.
 *
 * <p>I1: held sessions never exceed the wish, except those that were in hand when it was lowered.
 * So a slot that was to end is kept before a new one is started.
 */
final class Slots {
  private static final Logger log = LoggerFactory.getLogger(SessionProcessor.class);

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

  /** Done when the last slot has ended after {@link #stop}. */
  CompletableFuture<Void> ended() {
    return ended;
  }

  /** Slots that have something in hand. */
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
   * Returns whether no slot is free for another session. One that has just given a session back,
   * and is about to take the next, is not: an idle session kept for its sake would keep a slot from
   * work. One that is about to start is.
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
   * Returns whether so few slots are free that an idle session should be released early: a new
   * session is then taken the moment it comes. Of fewer than eight slots none is kept free.
   */
  boolean isCrowded() {
    int reserve = wished / 8;
    // Those that are about to start are free, too.
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
        log.error("A slot failed; it goes on after a pause, the others do not notice", e);
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
