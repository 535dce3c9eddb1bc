package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.ProcessorEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A listener for tests that records the events of a processor and waits for them.
 *
 * <p>Safe for many threads.
 */
public final class ProcessorProbe implements Consumer<ProcessorEvent> {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<ProcessorEvent.HandlingEnded> ended = new ArrayList<>();
  private final List<ProcessorEvent.Failed> failures = new ArrayList<>();

  @Override
  public void accept(ProcessorEvent event) {
    lock.lock();
    try {
      switch (event) {
        case ProcessorEvent.HandlingEnded end -> ended.add(end);
        case ProcessorEvent.Failed failed -> failures.add(failed);
        default -> {
          return;
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns completed messages, in the order in which their handlers returned. */
  public List<Delivery> completed() {
    return having(Settlement.Complete.class::isInstance);
  }

  /** Returns messages that the handler or the failure policy dead-lettered. */
  public List<Delivery> deadLettered() {
    return having(Settlement.DeadLetter.class::isInstance);
  }

  /** Returns attempts that ended with a retry. */
  public List<Delivery> retried() {
    return having(Settlement.Retry.class::isInstance);
  }

  /** Returns all failures with their contexts. */
  public List<ProcessorEvent.Failed> failures() {
    lock.lock();
    try {
      return List.copyOf(failures);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until so many messages are completed.
   *
   * @throws AssertionError if they are not in that time
   */
  public List<Delivery> awaitCompleted(int count, Duration atMost) throws InterruptedException {
    await(atMost, "%d completed messages".formatted(count), () -> completed().size() >= count);
    return completed();
  }

  /**
   * Waits until a condition holds, which is checked after every message and every failure.
   *
   * @throws AssertionError if it does not hold in that time
   */
  public void await(Duration atMost, String what, java.util.function.BooleanSupplier condition)
      throws InterruptedException {
    long left = atMost.toNanos();
    lock.lock();
    try {
      while (!condition.getAsBoolean()) {
        if (left <= 0) {
          throw new AssertionError(
              "Expected %s within %s; completed %d, retried %d, dead letters %d, failures %s"
                  .formatted(
                      what,
                      atMost,
                      completed().size(),
                      retried().size(),
                      deadLettered().size(),
                      failures));
        }
        long slice = Math.min(left, TimeUnit.MILLISECONDS.toNanos(20));
        left -= slice - Math.max(0, changed.awaitNanos(slice));
      }
    } finally {
      lock.unlock();
    }
  }

  private List<Delivery> having(Predicate<Settlement> settlement) {
    lock.lock();
    try {
      return ended.stream()
          .filter(end -> settlement.test(end.settlement()))
          .map(ProcessorEvent.HandlingEnded::delivery)
          .toList();
    } finally {
      lock.unlock();
    }
  }
}
