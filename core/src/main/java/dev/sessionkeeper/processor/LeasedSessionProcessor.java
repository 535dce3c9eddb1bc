package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueMode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;

/**
 * The session processor: slots that accept and serve sessions, one lease renewer, and a drain that
 * ends them.
 */
final class LeasedSessionProcessor implements SessionProcessor {
  private static final Logger log = ProcessorLog.LOG;

  private final Setup setup;
  private final Slots slots;
  private final RenewLeases renewals;

  private final CompletableFuture<DrainReport> drained = new CompletableFuture<>();
  private volatile State state = State.NEW;
  private volatile int concurrency;

  LeasedSessionProcessor(Setup setup, FailurePolicies failures) {
    this.setup = setup;
    this.concurrency = setup.options().maxConcurrentSessions();
    var losses = new LoseLease(setup.report());
    var handler = failures.handlerOf(setup, this::stopSoon);
    this.slots = new Slots(setup);
    this.renewals = new RenewLeases(setup, slots, losses);
    slots.doing(
        setup.settings().mode() == QueueMode.ORDERED
            ? new AcceptSessions(setup, handler, losses, slots)
            : new HandleMessages(setup, handler));
  }

  /**
   * Creates the caller of handlers after the processor exists, because a policy may stop the
   * processor.
   */
  @FunctionalInterface
  interface FailurePolicies {
    CallHandler handlerOf(Setup setup, Runnable stop);
  }

  @Override
  public SessionProcessor start() {
    if (!become(State.NEW, State.RUNNING)) {
      throw state == State.RUNNING
          ? new IllegalStateException("The processor of " + setup.queue() + " is running already")
          : new KeeperException.Closed("The processor of " + setup.queue());
    }
    log.info("Processing {} with {} slots as {}", setup.queue(), concurrency, setup.owner());
    renewals.start();
    slots.resize(concurrency);
    return this;
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public ProcessorOptions options() {
    return setup.options().withMaxConcurrentSessions(concurrency);
  }

  @Override
  public int activeSessions() {
    return slots.busy();
  }

  @Override
  public synchronized void changeConcurrency(int maxConcurrentSessions) {
    setup.options().withMaxConcurrentSessions(maxConcurrentSessions);
    concurrency = maxConcurrentSessions;
    if (state == State.RUNNING) {
      slots.resize(maxConcurrentSessions);
    }
  }

  @Override
  public synchronized void pause() {
    if (become(State.RUNNING, State.PAUSED)) {
      log.info("Paused the processor of {}", setup.queue());
      slots.resize(0);
    } else {
      require(State.PAUSED, "paused");
    }
  }

  @Override
  public synchronized void resume() {
    if (become(State.PAUSED, State.RUNNING)) {
      log.info("Resumed the processor of {}", setup.queue());
      slots.resize(concurrency);
    } else {
      require(State.RUNNING, "resumed");
    }
  }

  private void require(State expected, String act) {
    if (state != expected) {
      throw new IllegalStateException(
          "The processor of " + setup.queue() + " is " + state + " and cannot be " + act);
    }
  }

  @Override
  public DrainReport drain() {
    if (slots.isCurrentThreadOne()) {
      throw new IllegalStateException(
          "A handler or hook must not drain its own processor: it would wait for itself");
    }
    if (begin()) {
      finish();
    }
    return drained.join();
  }

  @Override
  public void close() {
    if (slots.isCurrentThreadOne()) {
      stopSoon();
    } else {
      drain();
    }
  }

  private void stopSoon() {
    if (begin()) {
      // At once, so that no slot takes another message; a thread only waits for the end.
      slots.stop();
      setup.startInBackground("keeper-drain", this::finish);
    }
  }

  private boolean begin() {
    if (become(State.NEW, State.CLOSED)) {
      drained.complete(new DrainReport(0, List.of()));
      return false;
    }
    return become(State.RUNNING, State.DRAINING) || become(State.PAUSED, State.DRAINING);
  }

  private synchronized boolean become(State expected, State next) {
    if (state != expected) {
      return false;
    }
    state = next;
    return true;
  }

  private void finish() {
    var report = new DrainReport(0, List.of());
    try {
      report = new DrainSlots(setup, slots).run();
    } finally {
      renewals.stop();
      state = State.CLOSED;
      drained.complete(report);
    }
    log.info("Closed the processor of {}: {}", setup.queue(), report);
  }
}
