package dev.sessionkeeper.processor;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;

/**
 * Ends all slots within the drain timeout, whatever handlers and provider do.
 *
 * <p>Three steps: wait for running handlers; interrupt those that still run; release the leases of
 * those that ignore the interrupt. The last two steps share the last tenth of the time, at most one
 * second.
 */
final class DrainSlots {
  private static final Logger log = ProcessorLog.LOG;
  private static final Duration LONGEST_GRACE = Duration.ofSeconds(1);

  private final Setup setup;
  private final Slots slots;
  private final TimeSource time;
  private final Report report;
  private final Duration patience;
  private final Duration grace;
  private boolean interrupted;

  DrainSlots(Setup setup, Slots slots) {
    this.setup = setup;
    this.slots = slots;
    this.time = setup.time();
    this.report = setup.report();
    var timeout = setup.options().drainTimeout();
    var tenth = timeout.dividedBy(10);
    var last = tenth.compareTo(LONGEST_GRACE) < 0 ? tenth : LONGEST_GRACE;
    this.patience = timeout.minus(last);
    this.grace = last.dividedBy(2);
  }

  DrainReport run() {
    var inHand = holds();
    slots.stop();
    if (!awaitDone(patience, slots.ended())) {
      inHand.addAll(holds());
      for (var hold : holds()) {
        hold.calling.interrupt();
      }
      if (!awaitDone(grace, slots.ended())) {
        abandon(holds());
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return reportOn(inHand);
  }

  /** An interrupted drain ends its current step at once, and still releases every lease. */
  private boolean awaitDone(Duration atMost, CompletableFuture<Void> done) {
    try {
      return Pause.await(time, done, atMost);
    } catch (InterruptedException e) {
      interrupted = true;
      return done.isDone();
    }
  }

  private void abandon(Set<Hold> stuck) {
    var givenBack = new ArrayList<CompletableFuture<Void>>();
    for (var hold : stuck) {
      if (hold.become(Hold.Status.ABANDONED)) {
        givenBack.add(giveBack(hold));
      }
    }
    awaitDone(grace, CompletableFuture.allOf(givenBack.toArray(CompletableFuture[]::new)));
  }

  /** On a thread of its own, so that a provider that does not answer cannot block the drain. */
  private CompletableFuture<Void> giveBack(Hold hold) {
    var done = new CompletableFuture<Void>();
    setup.startInBackground(
        "keeper-give-back",
        () -> {
          try {
            hold.giveBack();
          } catch (RuntimeException e) {
            report.failed(Phase.CLOSE, hold, e);
          } finally {
            done.complete(null);
          }
        });
    return done;
  }

  private DrainReport reportOn(Set<Hold> inHand) {
    var unfinished = new ArrayList<SessionId>();
    int released = 0;
    for (var hold : inHand) {
      boolean isUnfinished =
          hold.isCutShort() || hold.status() == Hold.Status.ABANDONED || slots.isStillInHand(hold);
      if (isUnfinished) {
        unfinished.add(hold.id());
      } else {
        released++;
      }
    }
    warnOf(unfinished);
    return new DrainReport(released, unfinished);
  }

  private static void warnOf(List<SessionId> unfinished) {
    if (!unfinished.isEmpty()) {
      log.warn(
          "Closed while {} handlers were running; their messages are delivered again: {}",
          unfinished.size(),
          unfinished);
    }
  }

  private Set<Hold> holds() {
    var holds = new LinkedHashSet<Hold>();
    for (var slot : slots.live()) {
      var hold = slot.hold();
      if (hold != null) {
        holds.add(hold);
      }
    }
    return holds;
  }
}
