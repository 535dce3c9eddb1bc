package dev.sessionkeeper.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Batches calls that arrive while another one is in progress. A call that finds none in progress
 * starts at once, or when its {@link Rhythm} allows.
 *
 * <p>One batch at a time; calls leave in the order of arrival. The batch's task answers every call
 * and must not throw.
 */
public final class GroupCalls<C> {
  /** The least number of calls in one batch that counts as load. */
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

  /**
   * How many calls arrived while the batch was in progress; used only by the thread that runs
   * batches.
   */
  private int cameMeanwhile = UNKNOWN;

  /**
   * Creates the batcher.
   *
   * @param most the most calls of one batch
   */
  public GroupCalls(String name, int most, Rhythm rhythm, Consumer<List<C>> task) {
    this.name = name;
    this.most = most;
    this.rhythm = rhythm;
    this.task = task;
  }

  /** Adds a call, which the task will answer. */
  public void add(C call) {
    waiting.add(call);
    rhythm.arrived(count.incrementAndGet());
    startIfIdle();
  }

  /**
   * Marks that the task begins to answer its batch. Calls that wait already come from other callers
   * than those being answered. A caller may call again before the last one is answered, and must
   * not be counted as another caller. A task that never calls this must use a rhythm that ignores
   * the number of other callers.
   */
  public void answers() {
    if (cameMeanwhile == UNKNOWN) {
      cameMeanwhile = count.get();
    }
  }

  /** Returns whether callers send the next call as fast as they are answered. */
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

  /** Runs batches. Returns whether another thread continues; otherwise no call waits any more. */
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
