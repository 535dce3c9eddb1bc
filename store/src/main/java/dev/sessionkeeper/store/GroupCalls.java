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

  private static final int UNKNOWN = -1;

  private final ConcurrentLinkedQueue<C> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicBoolean running = new AtomicBoolean();
  private final int most;
  private final String name;
  private final Consumer<List<C>> task;
  private final Rhythm rhythm;
  private volatile boolean isUnderLoad;

  /** How many came while the group was under way; only the thread that runs groups knows. */
  private int cameMeanwhile = UNKNOWN;

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

  /**
   * The task tells that it will now answer its group: who waits already is not one of those. A
   * caller is back before the last one is answered, and must not be taken for somebody else. A task
   * that does not tell this has a rhythm that does not ask.
   */
  public void answers() {
    if (cameMeanwhile == UNKNOWN) {
      cameMeanwhile = count.get();
    }
  }

  /** Returns whether callers come as fast as they are answered. */
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

  /** Returns whether another thread continues; otherwise no call waits any more. */
  private boolean runGroups() {
    for (var group = next(); !group.isEmpty(); group = next()) {
      cameMeanwhile = UNKNOWN;
      task.accept(group);
      answers();
      rhythm.ended(group.size(), cameMeanwhile);
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
