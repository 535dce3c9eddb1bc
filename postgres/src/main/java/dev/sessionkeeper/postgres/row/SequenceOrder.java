package dev.sessionkeeper.postgres.row;

import java.util.ArrayDeque;
import java.util.function.ToLongFunction;

/** Adds messages by their sequence number: a replayed message comes before newer ones (D-02). */
public final class SequenceOrder {
  private SequenceOrder() {}

  public static <T> void add(ArrayDeque<T> line, T next, ToLongFunction<T> sequence) {
    long number = sequence.applyAsLong(next);
    if (line.isEmpty() || sequence.applyAsLong(line.getLast()) < number) {
      line.addLast(next);
      return;
    }
    var behind = new ArrayDeque<T>();
    while (!line.isEmpty() && sequence.applyAsLong(line.getLast()) > number) {
      behind.addFirst(line.removeLast());
    }
    line.addLast(next);
    line.addAll(behind);
  }
}
