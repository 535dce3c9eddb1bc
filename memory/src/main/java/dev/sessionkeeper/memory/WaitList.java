package dev.sessionkeeper.memory;

import org.jspecify.annotations.Nullable;

/**
 * Threads that wait, longest first. One thing that happens wakes one of them: waking all would make
 * all but one go back to sleep. Guarded by the lock of its owner.
 */
final class WaitList {
  private @Nullable Waiter first;
  private @Nullable Waiter last;

  boolean isEmpty() {
    return first == null;
  }

  /** Adds it at the end, unless it is here already. */
  void add(Waiter waiter) {
    if (waiter.list != null) {
      return;
    }
    waiter.list = this;
    waiter.before = last;
    if (last == null) {
      first = waiter;
    } else {
      last.after = waiter;
    }
    last = waiter;
  }

  void remove(Waiter waiter) {
    if (waiter.list == null) {
      return;
    }
    if (waiter.before == null) {
      first = waiter.after;
    } else {
      waiter.before.after = waiter.after;
    }
    if (waiter.after == null) {
      last = waiter.before;
    } else {
      waiter.after.before = waiter.before;
    }
    waiter.list = null;
    waiter.before = null;
    waiter.after = null;
  }

  /** Wakes the one that has waited longest; it is no longer in the list then. */
  boolean wakeOne() {
    var waiter = first;
    if (waiter == null) {
      return false;
    }
    remove(waiter);
    waiter.wake();
    return true;
  }

  void wakeAll() {
    while (wakeOne()) {
      // Each wake-up takes one out.
    }
  }
}
