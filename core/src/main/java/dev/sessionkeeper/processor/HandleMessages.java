package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.MessageSource.Receipted;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;

/**
 * Receives and handles messages of an unordered queue, a few per call, on the slot's thread.
 *
 * <p>The number of messages per call follows the handler's speed: many if the handler is quick, one
 * if it is slow, so that no message waits here while another slot is free. Only the lock of the
 * message in progress is renewed; a message that waits here too long is delivered elsewhere.
 */
final class HandleMessages implements Slots.TakeWork {
  private static final Logger log = ProcessorLog.LOG;
  private static final long LONGEST_WAIT = Pause.nanos(Duration.ofSeconds(20));
  private static final long SHORTEST_WAIT = Pause.nanos(Duration.ofMillis(1));
  private static final long BATCH_NANOS = Pause.nanos(Duration.ofMillis(10));
  private static final long QUICK_NANOS = Pause.nanos(Duration.ofMillis(1));

  private final Setup setup;
  private final TimeSource time;
  private final MessageSource source;
  private final CallHandler handler;
  private final String provider;
  private final long longestWait;
  private volatile long usualNanos = BATCH_NANOS;

  HandleMessages(Setup setup, CallHandler handler) {
    this.setup = setup;
    this.time = setup.time();
    this.source = setup.provider().messages(setup.queue());
    this.handler = handler;
    this.provider = setup.provider().capabilities().provider();
    this.longestWait = Math.min(LONGEST_WAIT, setup.lockNanos() / 4);
  }

  @Override
  public void once(Slot slot) {
    var attempt = new Attempt(slot);
    slot.waitUnlessCalledAway(attempt);
    if (attempt.hasFailed) {
      slot.backOff(time);
      return;
    }
    long now = time.nanoTime();
    for (var receipted : attempt.batch) {
      // Releasing a message would cost it an attempt, so messages with a quick handler are finished
      // instead.
      if (slot.isCalledAway() && usualNanos > QUICK_NANOS) {
        giveBack(receipted);
        continue;
      }
      now = handle(slot, receipted, attempt.askedAt, now);
    }
  }

  private long handle(Slot slot, Receipted receipted, long askedAt, long now) {
    var hold = new MessageHold(source, receipted, askedAt, setup.lockNanos(), slot.jitter);
    if (hold.isPastDeadline(now)) {
      return now; // The message waited here too long and is delivered elsewhere.
    }
    slot.setHold(hold);
    try {
      var context = new LoneContext(hold, provider);
      var settlement = handler.handle(receipted.delivery(), context, hold, now);
      long ended = time.nanoTime();
      long usual = usualNanos;
      usualNanos = usual + (ended - now - usual) / 8;
      if (hold.isCutShort()) {
        giveBack(receipted);
      } else if (hold.isHeld()) {
        send(hold, receipted, settlement);
      }
      hold.become(Hold.Status.ENDED);
      return ended;
    } catch (RuntimeException e) {
      log.error("A slot failed while it handled message {}; the slot continues", receipted, e);
      setup.report().failed(Phase.HANDLE, hold, e);
      return time.nanoTime();
    } finally {
      slot.clearHold();
    }
  }

  private void send(Hold hold, Receipted receipted, Settlement settlement) {
    try {
      var stage = source.settle(receipted.receipt(), settlement).toCompletableFuture();
      if (stage.isDone() && !stage.isCompletedExceptionally()) {
        return;
      }
      var unused =
          stage.whenComplete(
              (done, error) -> {
                if (error != null) {
                  refused(hold, error);
                }
              });
    } catch (RuntimeException e) {
      refused(hold, e);
    }
  }

  private void refused(Hold hold, Throwable error) {
    var cause =
        error instanceof CompletionException e && e.getCause() != null ? e.getCause() : error;
    if (cause instanceof KeeperException.LockLost) {
      setup.report().tell(new ProcessorEvent.LeaseLost(hold.id(), hold.epoch()));
    }
    setup.report().failed(Phase.SETTLE, hold, cause);
  }

  private void giveBack(Receipted receipted) {
    try {
      new MessageHold(source, receipted, time.nanoTime(), setup.lockNanos(), setup.jitter())
          .giveBack();
    } catch (RuntimeException e) {
      setup.report().failed(Phase.CLOSE, e);
    }
  }

  private int batchSize() {
    long fitting = BATCH_NANOS / Math.max(1, usualNanos);
    return (int) Math.clamp(fitting, 1L, setup.options().prefetch());
  }

  /** One call to the provider. */
  private final class Attempt implements Slot.Wait {
    private final Slot slot;
    private List<Receipted> batch = List.of();
    private boolean hasFailed;
    private long askedAt;

    Attempt(Slot slot) {
      this.slot = slot;
    }

    @Override
    public void run() throws InterruptedException {
      long wait = slot.jitter.shorten(longestWait);
      askedAt = time.nanoTime();
      try {
        batch = source.receive(batchSize(), Duration.ofNanos(wait));
      } catch (RuntimeException e) {
        hasFailed = true;
        log.warn("Could not take messages of {}; the slot tries again", setup.queue(), e);
        setup.report().failed(Phase.RECEIVE, e);
        return;
      }
      slot.worked();
      if (batch.isEmpty() && time.nanoTime() - askedAt < SHORTEST_WAIT) {
        Pause.sleep(time, Duration.ofNanos(Math.min(wait, 10 * SHORTEST_WAIT)));
      }
    }
  }
}
