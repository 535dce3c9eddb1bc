package dev.sessionkeeper.processor;

import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;

/** Calls what the application does around a session, and tells the listeners. */
final class CallHooks {
  private final SessionHooks hooks;
  private final TimeSource time;
  private final Report report;

  CallHooks(Setup setup) {
    this.hooks = setup.hooks();
    this.time = setup.time();
    this.report = setup.report();
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
    return report.isHeard() || !hooks.equals(SessionHooks.NONE);
  }

  void closed(
      SessionContext context, Hold hold, CloseReason reason, int messages, Duration heldFor) {
    call(Phase.CLOSE, hold, () -> hooks.onSessionClosed(context, reason));
    if (report.isHeard()) {
      report.tell(
          new ProcessorEvent.SessionClosed(hold.id(), hold.epoch(), reason, messages, heldFor));
    }
  }

  private boolean call(Phase phase, Hold hold, Hook hook) {
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
