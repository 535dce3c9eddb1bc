package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.time.TimeSource;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/** Calls the application's handler; what it throws becomes a settlement by the failure policy. */
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
   * How the delivery ends. When the hold is no longer held afterwards, or was cut short, that must
   * not be sent.
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

  private Settlement call(Delivery delivery, SessionContext context, Hold hold, long now) {
    Settlement settlement;
    hold.beginCall(now);
    if (!hold.isHeld()) {
      // Lost just before: whoever ended the hold saw nobody to interrupt, so nobody may begin.
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

  private Settlement afterFailure(
      Delivery delivery, Hold hold, Throwable thrown, boolean interrupted) {
    if (interrupted && hold.isHeld()) {
      // The drain interrupted it. The message is not finished and has not failed: it comes again.
      hold.cutShort();
      return Settlement.complete();
    }
    if (!hold.isHeld()) {
      return Settlement.complete();
    }
    return failed(delivery, hold, thrown);
  }

  @SuppressWarnings("ConstantValue") // application code may not know about nullness
  private Settlement checked(Delivery delivery, Hold hold, Settlement settlement) {
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

  /** Decides about a failure of the handler, or of what it left to be written. */
  Settlement failed(Delivery delivery, Hold hold, Throwable thrown) {
    report.failed(Phase.HANDLE, Optional.of(hold.id()), thrown);
    var failure = thrown instanceof Exception e ? e : new ExecutionException(thrown);
    try {
      var settlement = failures.onFailure(delivery, failure);
      if (settlement instanceof Settlement.Park && !parks) {
        throw new KeeperException.NotSupported(provider, "park this session");
      }
      return settlement;
    } catch (RuntimeException e) {
      report.failed(Phase.HANDLE, Optional.of(hold.id()), e);
      return lastResort.onFailure(delivery, failure);
    }
  }
}
