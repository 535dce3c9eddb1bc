package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Renews all leases of the processor well before they end, and notices when one has ended.
 *
 * <p>One instance and one platform thread per processor, so that handlers that occupy all carriers
 * of virtual threads cannot starve it. Each renewal runs on a thread of its own, so a slow renewal
 * delays no other.
 */
final class RenewLeases implements Runnable {
  private static final int MOST_PLATFORM_THREADS = 32;

  private final Setup setup;
  private final Slots slots;
  private final LoseLease losses;
  private final TimeSource time;
  private final long maxAutoRenew;
  private final Duration look;
  private final Optional<ThreadPoolExecutor> pool;
  private final Executor renewals;
  private final Thread thread;
  private volatile boolean stopped;

  RenewLeases(Setup setup, Slots slots, LoseLease losses) {
    this.setup = setup;
    this.slots = slots;
    this.losses = losses;
    this.time = setup.time();
    this.maxAutoRenew = Pause.nanos(setup.options().maxAutoRenew());
    long shortest = Math.min(setup.lockNanos(), maxAutoRenew);
    this.look = Duration.ofNanos(Math.clamp(shortest / 20, 10_000_000L, 1_000_000_000L));
    var background = setup.background();
    this.pool = background.isPresent() ? Optional.empty() : Optional.of(platformThreads());
    this.renewals =
        background
            .<Executor>map(threads -> task -> threads.newThread(task).start())
            .orElseGet(pool::orElseThrow);
    this.thread =
        background
            .orElseGet(() -> Thread.ofPlatform().daemon().name("keeper-renew").factory())
            .newThread(this);
  }

  private static ThreadPoolExecutor platformThreads() {
    return new ThreadPoolExecutor(
        0,
        MOST_PLATFORM_THREADS,
        5,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        Thread.ofPlatform().daemon().name("keeper-renewal-", 0).factory(),
        // The pool of platform threads is full: this renewal gets a virtual thread of its own.
        (task, pool) -> Thread.ofVirtual().start(task));
  }

  void start() {
    thread.start();
  }

  void stop() {
    stopped = true;
    thread.interrupt();
    pool.ifPresent(ThreadPoolExecutor::shutdown);
  }

  @Override
  public void run() {
    try {
      while (!stopped) {
        Pause.sleep(time, look);
        long now = time.nanoTime();
        for (var slot : slots.live()) {
          var hold = slot.hold();
          if (hold != null && hold.isHeld()) {
            lookAfter(hold, now);
          }
        }
      }
    } catch (InterruptedException e) {
      // The renewer was stopped.
    }
  }

  private void lookAfter(Hold hold, long now) {
    if (hold.isPastDeadline(now)) {
      losses.lost(hold, Phase.RENEW, hold.lockLost());
    } else if (hold.isCalledLongerThan(maxAutoRenew, now)) {
      hold.endRenewals();
    } else if (hold.isRenewalDue(now)) {
      hold.beginRenewal();
      renewals.execute(() -> renew(hold));
    }
  }

  private void renew(Hold hold) {
    long sentAt = time.nanoTime();
    long next = sentAt + setup.jitter().shorten(setup.lockNanos() / 3);
    try {
      hold.renewLease();
      hold.extend(sentAt + setup.lockNanos());
      if (setup.report().isHeard()) {
        setup.report().tell(new ProcessorEvent.LeaseRenewed(hold.id(), hold.epoch()));
      }
    } catch (KeeperException.LockLost e) {
      losses.lost(hold, Phase.RENEW, e);
    } catch (RuntimeException e) {
      next = time.nanoTime() + setup.jitter().shorten(setup.lockNanos() / 12);
      setup.report().failed(Phase.RENEW, hold, e);
    } finally {
      hold.endRenewal(next);
    }
  }
}
