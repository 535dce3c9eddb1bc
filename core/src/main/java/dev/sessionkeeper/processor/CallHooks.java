package dev.sessionkeeper.processor;

import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;

/** Calls the session hooks of the application and reports to the listeners. */
final class CallHooks {
  private final SessionHooks hooks;
  private final boolean areNone;
  private final TimeSource time;
  private final Report report;

  CallHooks(Setup setup) {
    this.hooks = setup.hooks();
    this.areNone = hooks.equals(SessionHooks.NONE);
    this.time = setup.time();
    this.report = setup.report();
  }

  /** Returns whether any hook is set. */
  boolean areSet() {
    return !areNone;
  }

  /** Runs the open hook. Returns whether the session may be served. */
  boolean opened(SessionContext context, Hold hold) {
    if (report.isHeard()) {
      report.tell(new ProcessorEvent.SessionOpened(hold.id(), hold.epoch()));
    }
    return call(Phase.OPEN, hold, () -> hooks.onSessionOpened(context));
  }

  /** Returns whether a hook runs when a hold ends. */
  boolean areHeard() {
    return report.isHeard() || !areNone;
  }

  void closed(SessionContext context, Hold hold, CloseReason reason, int messages, long heldSince) {
    var heldFor = report.isHeard() ? time.since(heldSince) : Duration.ZERO;
    call(Phase.CLOSE, hold, () -> hooks.onSessionClosed(context, reason));
    if (report.isHeard()) {
      report.tell(
          new ProcessorEvent.SessionClosed(hold.id(), hold.epoch(), reason, messages, heldFor));
    }
  }

  private boolean call(Phase phase, Hold hold, Hook hook) {
    if (areNone) {
      return true;
    }
    hold.beginCall(time.nanoTime());
    try {
      hook.run();
      return true;
    } catch (Throwable e) {
      report.failed(phase, hold, e);
      return false;
    } finally {
      hold.endCall();
    }
  }

  /** Application code around a session. */
  @FunctionalInterface
  private interface Hook {
    void run() throws Exception;
  }
}
