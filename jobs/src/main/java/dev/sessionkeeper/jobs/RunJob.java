package dev.sessionkeeper.jobs;

import dev.sessionkeeper.KeeperException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a job once: from its claim to the release of its lease.
 *
 * <p>One virtual thread, which is interrupted when the lease is lost.
 */
final class RunJob implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(RunJob.class);
  private static final int MAX_ERROR = 1000;

  private final Claim claim;
  private final JobTask task;
  private final FencedContext context;
  private final HeldLease held;
  private final JobLeases leases;
  private final JobOptions options;
  private final Consumer<JobEvent> events;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile @Nullable Thread thread;
  private volatile boolean handingOver;

  RunJob(
      Claim claim,
      Registered job,
      HeldLease held,
      JobLeases leases,
      JobOptions options,
      Consumer<JobEvent> events,
      Consumer<String> progress) {
    this.claim = claim;
    this.task = job.task();
    this.held = held;
    this.leases = leases;
    this.options = options;
    this.events = events;
    this.context = new FencedContext(held, claim.slot(), job.schedule(), leases, events, progress);
  }

  /** A job as this process runs it. */
  record Registered(Schedule schedule, JobTask task) {}

  @Override
  public void run() {
    thread = Thread.currentThread();
    long started = options.time().nanoTime();
    var interrupt = held.whenLost(this::interrupt);
    try {
      task.run(context);
      if (!context.isCompleted()) {
        context.complete();
      }
      thread = null;
      var took = options.time().since(started);
      events.accept(new JobEvent.Completed(claim.job(), claim.slot(), took));
    } catch (Exception | LinkageError | AssertionError e) {
      thread = null;
      // The flag would break the next call to the database.
      Thread.interrupted();
      end(e, options.time().since(started));
    } finally {
      interrupt.cancel();
      ended.countDown();
    }
  }

  private void end(Throwable failure, Duration took) {
    var lost = held.lost();
    if (handingOver) {
      return;
    }
    if (lost != null || failure instanceof KeeperException.LockLost) {
      lost(lost == null ? "its epoch was refused" : lost);
    } else if (context.isCompleted()) {
      log.warn("Job {} threw after its slot was done: {}", claim.job(), failure.toString());
    } else {
      failed(failure, took);
    }
  }

  private void lost(String why) {
    log.warn(
        "Job {} of {} stopped under epoch {}: {}; the next owner runs the slot again",
        claim.job(),
        claim.lease().owner(),
        claim.lease().epoch(),
        why);
    events.accept(new JobEvent.Lost(claim.job(), claim.lease().epoch(), why));
  }

  private void failed(Throwable failure, Duration took) {
    int attempts = claim.attempts() + 1;
    var pause = options.retry().delayAfter(attempts, options.random());
    var error = text(failure);
    log.warn(
        "Job {} of {} failed (attempt {}), next in {}",
        claim.job(),
        claim.lease().owner(),
        attempts,
        pause,
        failure);
    try {
      if (!leases.fail(held.lease(), error, pause)) {
        context.rejected("fail");
        lost("its epoch was refused");
        return;
      }
    } catch (KeeperException e) {
      log.warn("The failure of job {} could not be written; its lease runs out", claim.job(), e);
    }
    events.accept(new JobEvent.Failed(claim.job(), attempts, took, pause, error));
    if (attempts == options.alertAfter()) {
      log.error(
          "Job {} failed {} times in a row, the last time on {}: {}",
          claim.job(),
          attempts,
          claim.lease().owner(),
          error);
      events.accept(new JobEvent.Alerted(claim.job(), attempts, error));
    }
  }

  /** Asks the run to end soon. */
  void stop() {
    context.stop();
  }

  boolean awaitEnd(Duration time) throws InterruptedException {
    return ended.await(Math.max(0, time.toNanos()), TimeUnit.NANOSECONDS);
  }

  /**
   * Ends the run now and releases the job to another node. Fencing refuses whatever the run still
   * does.
   */
  void handOver() {
    handingOver = true;
    held.lose("this node closes");
    try {
      if (leases.release(held.lease())) {
        events.accept(new JobEvent.HandedOver(claim.job(), claim.lease().epoch()));
      }
    } catch (KeeperException e) {
      log.warn("Job {} could not be handed over; its lease runs out", claim.job(), e);
    }
  }

  private void interrupt() {
    var running = thread;
    if (running != null && !running.equals(Thread.currentThread())) {
      running.interrupt();
    }
  }

  /**
   * Describes a failure for operators. Failures of the product are described by their own words and
   * the first line of their cause, such as the database's message; others also by their class.
   */
  static String text(Throwable failure) {
    var text = failure instanceof KeeperException ? words(failure) : failure.toString();
    return text.length() <= MAX_ERROR ? text : text.substring(0, MAX_ERROR);
  }

  private static String words(Throwable failure) {
    var own = String.valueOf(failure.getMessage());
    var cause =
        Optional.ofNullable(failure.getCause())
            .flatMap(why -> String.valueOf(why.getMessage()).lines().findFirst())
            .filter(why -> !own.contains(why));
    return cause.map(why -> own + ": " + why).orElse(own);
  }
}
