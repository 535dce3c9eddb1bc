package dev.sessionkeeper.memory;

import org.jspecify.annotations.Nullable;

/**
 * Waiting threads, longest first. An event wakes one of them; waking all would send all but one
 * back to sleep. Guarded by the lock of its owner.
 */
final class WaitList {
  private @Nullable Waiter first;
  private @Nullable Waiter last;

  boolean isEmpty() {
    return first == null;
  }

  /** Appends a waiter, unless it is in the list already. */
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

  /** Wakes the thread that has waited longest, and removes it from the list. */
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
      // Each wake-up removes one.
    }
  }
}
