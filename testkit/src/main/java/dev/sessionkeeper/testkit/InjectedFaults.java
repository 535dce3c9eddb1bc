package dev.sessionkeeper.testkit;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Decides which call gets which fault: at random from a seed, or on demand. */
final class InjectedFaults {
  private final Random random;
  private final Set<SessionId> doomed = ConcurrentHashMap.newKeySet();
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicLong count = new AtomicLong();
  private volatile Faults faults;

  InjectedFaults(Faults faults, long seed) {
    this.faults = faults;
    this.random = new Random(seed);
  }

  void change(Faults changed) {
    faults = changed;
  }

  void failNext(int calls) {
    failures.set(calls);
  }

  void loseLock(SessionId session) {
    doomed.add(session);
  }

  long count() {
    return count.get();
  }

  /** Runs before a call, which may be delayed or fail. */
  void before(String call) {
    var now = faults;
    if (chance(now.delays())) {
      Eventually.sleep(now.longestDelay().multipliedBy(random.nextInt(1, 101)).dividedBy(100));
    }
    boolean ordered = failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    if (ordered || chance(now.unavailable())) {
      throw new KeeperException.Unavailable("The faulty provider (" + call + ")");
    }
  }

  boolean losesAnswer() {
    return chance(faults.lostAnswers());
  }

  boolean repeatsSend() {
    return chance(faults.repeatedSends());
  }

  boolean losesLock(SessionId session) {
    return doomed.remove(session) || chance(faults.lostLocks());
  }

  static KeeperException lostAnswer(String call) {
    return new KeeperException.OutcomeUnknown(
        "The call (" + call + ")", new IllegalStateException("planted by the test"));
  }

  private synchronized boolean chance(double part) {
    boolean happens = part > 0 && random.nextDouble() < part;
    if (happens) {
      count.incrementAndGet();
    }
    return happens;
  }
}
