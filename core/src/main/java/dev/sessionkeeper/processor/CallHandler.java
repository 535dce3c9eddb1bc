package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.time.TimeSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/** Calls the application's handler. The failure policy turns an exception into a settlement. */
final class CallHandler {
  private final MessageHandler handler;
  private final FailurePolicy failures;
  private final FailurePolicy lastResort;
  private final boolean parks;
  private final String provider;
  private final TimeSource time;
  private final Report report;

  CallHandler(Setup setup, FailurePolicy failures, FailurePolicy lastResort, boolean parks) {
    this.handler = setup.handler();
    this.failures = failures;
    this.lastResort = lastResort;
    this.parks = parks;
    this.provider = setup.provider().capabilities().provider();
    this.time = setup.time();
    this.report = setup.report();
  }

  /**
   * Returns how the delivery ends. The caller must not send this settlement if the hold was lost or
   * interrupted meanwhile.
   */
  Settlement handle(Delivery delivery, SessionContext context, Hold hold, long now) {
    if (report.isHeard()) {
      report.tell(new ProcessorEvent.HandlingStarted(context.id(), hold.epoch(), delivery));
    }
    var settlement = call(delivery, context, hold, now);
    if (report.isHeard() && hold.isHeld() && !hold.isCutShort()) {
      report.tell(
          new ProcessorEvent.HandlingEnded(
              context.id(), hold.epoch(), delivery, settlement, time.since(now)));
    }
    return settlement;
  }

  /** Reports that a handler is about to be called with these messages. */
  void started(List<Delivery> batch, SessionContext context, Hold hold) {
    if (report.isHeard()) {
      batch.forEach(
          delivery ->
              report.tell(
                  new ProcessorEvent.HandlingStarted(context.id(), hold.epoch(), delivery)));
    }
  }

  /** Reports how the first messages of a batch ended. */
  void ended(
      List<Delivery> batch,
      List<Settlement> settlements,
      SessionContext context,
      Hold hold,
      long now) {
    if (report.isHeard() && hold.isHeld() && !hold.isCutShort()) {
      var took = time.since(now);
      for (int i = 0; i < settlements.size(); i++) {
        report.tell(
            new ProcessorEvent.HandlingEnded(
                context.id(), hold.epoch(), batch.get(i), settlements.get(i), took));
      }
    }
  }

  private Settlement call(Delivery delivery, SessionContext context, Hold hold, long now) {
    Settlement settlement;
    hold.beginCall(now);
    if (!hold.isHeld()) {
      // The lease was lost just before the call. The thread that ended the hold found no handler to
      // interrupt, so no handler may start now.
      hold.endCall();
      return Settlement.complete();
    }
    try {
      settlement = handler.handle(delivery, context);
    } catch (Throwable thrown) {
      boolean interrupted = hold.endCall();
      return afterFailure(delivery, hold, thrown, interrupted);
    }
    hold.endCall();
    return checked(delivery, hold, settlement);
  }

  Settlement afterFailure(Delivery delivery, Hold hold, Throwable thrown, boolean interrupted) {
    if (interrupted && hold.isHeld()) {
      // The drain interrupted the handler. The message has neither ended nor failed, and is
      // delivered again.
      hold.cutShort();
      return Settlement.complete();
    }
    if (!hold.isHeld()) {
      return Settlement.complete();
    }
    return failed(delivery, hold, thrown);
  }

  @SuppressWarnings(
      "ConstantValue") // Application code without nullness annotations may return null.
  Settlement checked(Delivery delivery, Hold hold, Settlement settlement) {
    if (settlement == null) {
      return failed(
          delivery, hold, new IllegalStateException("The handler returned no settlement"));
    }
    if (settlement instanceof Settlement.Park && !parks) {
      return failed(
          delivery, hold, new KeeperException.NotSupported(provider, "park this session"));
    }
    return settlement;
  }

  /** Decides about a failure of the handler, or of the state write that it left behind. */
  Settlement failed(Delivery delivery, Hold hold, Throwable thrown) {
    report.failed(Phase.HANDLE, hold, delivery, thrown);
    var failure = thrown instanceof Exception e ? e : new ExecutionException(thrown);
    try {
      var context = report.contextOf(Phase.HANDLE, hold, Optional.of(delivery));
      var settlement = failures.onFailure(delivery, failure, context);
      if (settlement instanceof Settlement.Park && !parks) {
        throw new KeeperException.NotSupported(provider, "park this session");
      }
      return settlement;
    } catch (RuntimeException e) {
      report.failed(Phase.HANDLE, hold, delivery, e);
      return lastResort.onFailure(delivery, failure);
    }
  }
}
