package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.Delivery;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Messages of one session that came with an answer and wait for a receive. Used by one thread at a
 * time.
 */
final class Prefetch {
  private final AtomicInteger size;
  private final Deque<Delivery> waiting;
  private boolean mayBeMore;

  /**
   * Keeps the messages of an answer.
   *
   * @param size how many messages the caller wants at once; 0 while it has not used {@code
   *     receiveKnown}
   */
  Prefetch(AtomicInteger size, List<Delivery> come) {
    this.size = size;
    this.waiting = new ArrayDeque<>(come);
    this.mayBeMore = come.isEmpty() || come.size() >= size.get();
  }

  /**
   * Remembers how many messages the accepts of the same caller should bring: its largest wish,
   * because the last receive of a hold asks for fewer.
   */
  void expect(int max) {
    if (size.get() < max) {
      size.accumulateAndGet(max, Math::max);
    }
  }

  void add(List<Delivery> come, int asked) {
    waiting.addAll(come);
    mayBeMore = come.size() >= asked;
  }

  List<Delivery> take(int max) {
    var taken = new ArrayList<Delivery>();
    while (taken.size() < max && !waiting.isEmpty()) {
      taken.add(waiting.remove());
    }
    return taken;
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Forgets messages that became void. */
  void clear() {
    waiting.clear();
    mayBeMore = true;
  }

  boolean mayHaveMore() {
    return mayBeMore || !waiting.isEmpty();
  }
}
