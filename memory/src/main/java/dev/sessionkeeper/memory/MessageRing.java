package dev.sessionkeeper.memory;

import java.util.Arrays;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one session in order, in a circular array that grows and shrinks. An empty ring
 * needs no array. Not thread-safe: the session's lock guards it.
 */
final class MessageRing {
  private static final @Nullable Stored[] NONE = new Stored[0];
  private static final int SMALLEST = 4;

  private @Nullable Stored[] slots = NONE;
  private int first;
  private int size;

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  Stored get(int index) {
    var stored = index < size ? slots[slot(index)] : null;
    if (stored == null) {
      throw new IndexOutOfBoundsException("index must be 0 to " + (size - 1) + ", was " + index);
    }
    return stored;
  }

  void add(Stored stored) {
    if (size == slots.length) {
      resize(Math.max(SMALLEST, size * 2));
    }
    slots[slot(size)] = stored;
    size++;
  }

  Stored removeFirst() {
    var stored = get(0);
    slots[first] = null;
    first = slot(1);
    size--;
    if (size == 0) {
      slots = NONE;
      first = 0;
    } else if (slots.length > 4 * SMALLEST && size * 4 <= slots.length) {
      resize(slots.length / 2);
    }
    return stored;
  }

  Stored remove(int index) {
    if (index == 0) {
      return removeFirst();
    }
    var removed = get(index);
    for (int i = index; i < size - 1; i++) {
      slots[slot(i)] = slots[slot(i + 1)];
    }
    slots[slot(size - 1)] = null;
    size--;
    return removed;
  }

  /** Inserts a message by its sequence number, but never before {@code least}. */
  void insert(Stored stored, int least) {
    add(stored);
    int at = size - 1;
    while (at > least && get(at - 1).sequence > stored.sequence) {
      slots[slot(at)] = slots[slot(at - 1)];
      at--;
    }
    slots[slot(at)] = stored;
  }

  void sortBySequence() {
    resize(Math.max(SMALLEST, slots.length));
    Arrays.sort(slots, 0, size, Comparator.comparingLong(MessageRing::sequenceOf));
  }

  private static long sequenceOf(@Nullable Stored stored) {
    return stored == null ? Long.MAX_VALUE : stored.sequence;
  }

  private int slot(int index) {
    int slot = first + index;
    return slot < slots.length ? slot : slot - slots.length;
  }

  private void resize(int capacity) {
    var bigger = new Stored[capacity];
    for (int i = 0; i < size; i++) {
      bigger[i] = slots[slot(i)];
    }
    slots = bigger;
    first = 0;
  }
}
