package dev.sessionkeeper.server.gateway;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Batches deliveries that arrive while others are being stored, in the order of their arrival. A
 * delivery never waits for a batch: the first one leaves at once.
 *
 * <p>A few batches are stored concurrently. A batch's task answers each of its deliveries and does
 * not throw.
 */
final class GatherDeliveries {
  /**
   * The most deliveries of a batch. Each takes a few locks until the commit, and PostgreSQL limits
   * their number.
   */
  private static final int MOST_DELIVERIES = 64;

  private static final int MOST_MESSAGES = 512;
  private static final long MOST_BYTES = 8L << 20;

  private final int groups;
  private final Consumer<List<WaitingDelivery>> task;
  private final ArrayDeque<WaitingDelivery> line = new ArrayDeque<>();
  private int underWay;

  /**
   * Creates an empty queue of deliveries.
   *
   * @param groups the most concurrent batches
   */
  GatherDeliveries(int groups, Consumer<List<WaitingDelivery>> task) {
    this.groups = groups;
    this.task = task;
  }

  void add(WaitingDelivery delivery) {
    synchronized (this) {
      line.add(delivery);
      if (underWay == groups) {
        return;
      }
      underWay++;
    }
    Thread.ofVirtual().name("store-deliveries").start(this::storeUntilEmpty);
  }

  /** Returns the number of waiting deliveries. */
  synchronized int waiting() {
    return line.size();
  }

  /** Removes and returns all waiting deliveries. */
  synchronized List<WaitingDelivery> clear() {
    var all = List.copyOf(line);
    line.clear();
    return all;
  }

  private void storeUntilEmpty() {
    for (var group = next(); !group.isEmpty(); group = next()) {
      task.accept(group);
    }
  }

  private synchronized List<WaitingDelivery> next() {
    var group = new ArrayList<WaitingDelivery>();
    int messages = 0;
    long bytes = 0;
    for (var head = line.peek(); head != null; head = line.peek()) {
      messages += head.bots().size();
      bytes += head.added().raw().body().length;
      boolean full =
          group.size() == MOST_DELIVERIES || messages > MOST_MESSAGES || bytes > MOST_BYTES;
      if (full && !group.isEmpty()) {
        return group;
      }
      group.add(line.remove());
    }
    if (group.isEmpty()) {
      underWay--;
    }
    return group;
  }
}
