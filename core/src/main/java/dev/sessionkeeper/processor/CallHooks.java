package dev.sessionkeeper.processor;

import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;

/** Calls what the application does around a session, and tells the listeners. */
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

  /** Whether there is anything to call. */
  boolean takeTime() {
    return !areNone;
  }

  /** Whether the open hook let the session be served. */
  boolean opened(SessionContext context, Hold hold) {
    if (report.isHeard()) {
      report.tell(new ProcessorEvent.SessionOpened(hold.id(), hold.epoch()));
    }
    return call(Phase.OPEN, hold, () -> hooks.onSessionOpened(context));
  }

  /** Whether somebody wants to know how a hold ended, before it does. */
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
      report.failed(phase, Optional.of(hold.id()), e);
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
