package dev.sessionkeeper.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Lets calls that come while another one is under way leave together: natural batching. A call that
 * finds nothing under way leaves at once, or when its {@link Rhythm} lets it.
 *
 * <p>One group at a time; calls leave in the order in which they came. The group's task answers
 * every call itself and must not throw.
 */
public final class GroupCalls<C> {
  /** Calls of one group that mean load. */
  private static final int MANY = 3;

  private final ConcurrentLinkedQueue<C> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicBoolean running = new AtomicBoolean();
  private final int most;
  private final String name;
  private final Consumer<List<C>> task;
  private final Rhythm rhythm;
  private volatile boolean isUnderLoad;

  /**
   * Prepares.
   *
   * @param most calls of one group
   */
  public GroupCalls(String name, int most, Rhythm rhythm, Consumer<List<C>> task) {
    this.name = name;
    this.most = most;
    this.rhythm = rhythm;
    this.task = task;
  }

  /** Adds a call; it is answered by the task. */
  public void add(C call) {
    waiting.add(call);
    rhythm.arrived(count.incrementAndGet());
    startIfIdle();
  }

  /** Whether callers come as fast as they are answered. */
  public boolean areCallersHeldUp() {
    return rhythm.areCallersHeldUp();
  }

  private void startIfIdle() {
    if (running.compareAndSet(false, true)) {
      start();
    }
  }

  private void start() {
    StoreThreads.start(name, isUnderLoad, this::runUntilEmpty);
  }

  private void runUntilEmpty() {
    boolean isHandedOver = false;
    try {
      isHandedOver = runGroups();
    } finally {
      if (!isHandedOver) {
        running.set(false);
        if (!waiting.isEmpty()) {
          startIfIdle();
        }
      }
    }
  }

  /** Whether another thread goes on; else nobody waits any more. */
  private boolean runGroups() {
    for (var group = next(); !group.isEmpty(); group = next()) {
      task.accept(group);
      rhythm.ended(group.size(), count.get());
      isUnderLoad = group.size() >= MANY;
      if (isUnderLoad && StoreThreads.isTooLight()) {
        start();
        return true;
      }
    }
    return false;
  }

  private List<C> next() {
    if (!waiting.isEmpty()) {
      rhythm.begin(count);
    }
    var group = new ArrayList<C>();
    for (C call = waiting.poll(); call != null; call = waiting.poll()) {
      count.decrementAndGet();
      group.add(call);
      if (group.size() == most) {
        break;
      }
    }
    return group;
  }
}
