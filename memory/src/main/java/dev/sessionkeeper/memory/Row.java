package dev.sessionkeeper.memory;

import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A list of objects in order, from which any element may be removed.
 *
 * <p>Each element has a place, which is a growing number. Removing an element leaves a gap and does
 * not touch its neighbours, whose memory is far away. Gaps are closed when the array is full and at
 * least half of it is gaps, so a step costs the same for any length. Not thread-safe: guarded by
 * the lock of its owner.
 */
final class Row<T> {
  private static final int SMALLEST = 4;
  private static final int LARGEST_KEPT = 1024;

  private final ObjIntConsumer<T> moved;
  private @Nullable Object[] slots = new Object[SMALLEST];
  // Numbers may overflow; only their differences count.
  private int first;
  private int end;
  private int size;

  /**
   * Creates an empty row.
   *
   * @param moved is called when an element gets another place
   */
  Row(ObjIntConsumer<T> moved) {
    this.moved = moved;
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the place of the first element; meaningless if there is none. */
  int firstPlace() {
    while (first != end && slots[slot(first)] == null) {
      first++;
    }
    return first;
  }

  /** Appends an element and returns its place. */
  int add(T thing) {
    if (end - first == slots.length) {
      makeRoom();
    }
    slots[slot(end)] = thing;
    size++;
    return end++;
  }

  /** Removes the element at this place; does nothing if another one is there. */
  void remove(T thing, int place) {
    int behind = place - first;
    if (behind < 0 || behind >= end - first || !thing.equals(slots[slot(place)])) {
      return;
    }
    slots[slot(place)] = null;
    left();
  }

  /** Removes and returns the first element of a row that is not empty. */
  @SuppressWarnings("unchecked") // Only add() writes the array.
  T removeFirst() {
    int slot = slot(firstPlace());
    var thing = slots[slot];
    if (thing == null) {
      throw new IllegalStateException("The row is empty");
    }
    slots[slot] = null;
    first++;
    left();
    return (T) thing;
  }

  private void left() {
    size--;
    if (size == 0) {
      first = end;
      if (slots.length > LARGEST_KEPT) {
        slots = new Object[SMALLEST];
      }
    }
  }

  private void makeRoom() {
    if (firstPlace() != end - slots.length) {
      return;
    }
    if (size > slots.length / 2) {
      grow();
    } else {
      closeGaps();
    }
  }

  private void grow() {
    var bigger = new Object[slots.length * 2];
    for (int place = first; place != end; place++) {
      bigger[place & (bigger.length - 1)] = slots[slot(place)];
    }
    slots = bigger;
  }

  @SuppressWarnings("unchecked") // Only add() writes the array.
  private void closeGaps() {
    int next = first;
    for (int place = first; place != end; place++) {
      var thing = slots[slot(place)];
      if (thing != null && next != place) {
        slots[slot(next)] = thing;
        slots[slot(place)] = null;
        moved.accept((T) thing, next);
      }
      next += thing == null ? 0 : 1;
    }
    end = next;
  }

  private int slot(int place) {
    return place & (slots.length - 1);
  }
}
