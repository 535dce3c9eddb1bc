package dev.sessionkeeper.processor;

import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.SessionSource;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Accepts the session that has waited longest and serves it, once per call, on the slot's thread.
 *
 * <p>A failure affects one slot only: that slot waits and tries again.
 */
final class AcceptSessions implements Slots.TakeWork {
  private static final Logger log = ProcessorLog.LOG;
  private static final long LONGEST_WAIT = Pause.nanos(Duration.ofSeconds(20));
  private static final long SHORTEST_WAIT = Pause.nanos(Duration.ofMillis(1));

  private final Setup setup;
  private final TimeSource time;
  private final SessionSource source;
  private final CallHandler handler;
  private final CallHooks hooks;
  private final LoseLease losses;
  private final WaitForMessages messages;
  private final Duration lock;
  private final long longestWait;

  AcceptSessions(Setup setup, CallHandler handler, LoseLease losses, Slots slots) {
    this.setup = setup;
    this.time = setup.time();
    this.source = setup.provider().sessions(setup.queue());
    this.handler = handler;
    this.hooks = new CallHooks(setup);
    this.losses = losses;
    this.messages = new WaitForMessages(setup, source, slots, losses);
    // The local deadline of a lease counts from before the call. So the call must be much shorter
    // than the lease.
    this.lock = setup.settings().lockDuration();
    this.longestWait = Math.min(LONGEST_WAIT, setup.lockNanos() / 4);
  }

  @Override
  public void once(Slot slot) {
    var attempt = new Attempt(slot);
    slot.waitUnlessCalledAway(attempt);
    if (attempt.session != null) {
      serve(slot, attempt.session, attempt.askedAt);
    } else if (attempt.hasFailed) {
      slot.backOff(time);
    }
  }

  private void serve(Slot slot, HeldSession session, long askedAt) {
    boolean wentWell = false;
    try {
      var hold = new SessionHold(session, askedAt, lock, slot.jitter);
      slot.markBusy();
      slot.setHold(hold);
      try {
        wentWell = new ServeSession(setup, slot, hold, handler, hooks, losses, messages).run();
      } finally {
        slot.clearHold();
      }
    } finally {
      if (!wentWell) {
        // Closing twice does nothing. The lease must be released whatever failed.
        session.close();
      }
    }
    if (wentWell) {
      slot.worked();
    } else {
      slot.backOff(time);
    }
  }

  /** One call to the provider. */
  private final class Attempt implements Slot.Wait {
    private final Slot slot;
    private @Nullable HeldSession session;
    private boolean hasFailed;
    private long askedAt;

    Attempt(Slot slot) {
      this.slot = slot;
    }

    @Override
    public void run() throws InterruptedException {
      // Jitter keeps slots that found nothing at the same time from polling again at the same time.
      long wait = slot.jitter.shorten(longestWait);
      askedAt = time.nanoTime();
      slot.markWaiting(askedAt);
      try {
        if (source.acceptNext(setup.owner(), Duration.ofNanos(wait))
            instanceof AcceptResult.Accepted accepted) {
          session = accepted.session();
          return;
        }
      } catch (RuntimeException e) {
        hasFailed = true;
        log.warn("Could not take a session of {}; the slot tries again", setup.queue(), e);
        setup.report().failed(Phase.ACCEPT, e);
        return;
      }
      slot.worked();
      if (time.nanoTime() - askedAt < SHORTEST_WAIT) {
        // A provider that returns without waiting must not be polled in a tight loop.
        Pause.sleep(time, Duration.ofNanos(Math.min(wait, 10 * SHORTEST_WAIT)));
      }
    }
  }
}
