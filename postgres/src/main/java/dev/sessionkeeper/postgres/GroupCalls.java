package dev.sessionkeeper.postgres;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Lets calls that come while another one is under way leave together: natural batching. A call that
 * finds nothing under way leaves at once; where nobody waits for the answer, groups keep a
 * distance, so that under load they are few and large.
 *
 * <p>One group at a time; calls leave in the order in which they came. The group's task answers
 * every call itself and must not throw.
 */
final class GroupCalls<C> {
  private final ConcurrentLinkedQueue<C> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean running = new AtomicBoolean();
  private final int most;
  private final String name;
  private final Consumer<List<C>> task;
  private final Pace pace;

  /** Groups without a distance, for callers who wait. */
  GroupCalls(String name, int most, Consumer<List<C>> task) {
    this(name, most, Pace.NONE, task);
  }

  GroupCalls(String name, int most, Pace pace, Consumer<List<C>> task) {
    this.name = name;
    this.most = most;
    this.pace = pace;
    this.task = task;
  }

  void add(C call) {
    waiting.add(call);
    startIfIdle();
  }

  private void startIfIdle() {
    if (running.compareAndSet(false, true)) {
      var unused = Thread.ofVirtual().name(name).start(this::runUntilEmpty);
    }
  }

  private void runUntilEmpty() {
    try {
      for (var group = next(); !group.isEmpty(); group = next()) {
        task.accept(group);
      }
    } finally {
      running.set(false);
      if (!waiting.isEmpty()) {
        startIfIdle();
      }
    }
  }

  private List<C> next() {
    if (!waiting.isEmpty()) {
      pace.begin();
    }
    var group = new ArrayList<C>();
    for (C call = waiting.poll(); call != null; call = waiting.poll()) {
      group.add(call);
      if (group.size() == most) {
        break;
      }
    }
    return group;
  }
}
