package dev.sessionkeeper.processor;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.processor.SessionHooks.ErrorContext;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells listeners and the error hook what happens; what they throw stops nobody. */
final class Report {
  private static final Logger log = LoggerFactory.getLogger(SessionProcessor.class);

  private final List<Consumer<? super ProcessorEvent>> listeners;
  private final SessionHooks hooks;

  Report(List<Consumer<? super ProcessorEvent>> listeners, SessionHooks hooks) {
    this.listeners = List.copyOf(listeners);
    this.hooks = hooks;
  }

  /** Whether it is worth making an event. */
  boolean isHeard() {
    return !listeners.isEmpty();
  }

  void tell(ProcessorEvent event) {
    for (var listener : listeners) {
      try {
        listener.accept(event);
      } catch (RuntimeException e) {
        log.warn("A listener failed on {}; the processor goes on", event, e);
      }
    }
  }

  void failed(Phase phase, Optional<SessionId> session, Throwable error) {
    log.debug("{} failed, session {}", phase, session, error);
    var context = new ErrorContext(phase, session);
    try {
      hooks.onError(error, context);
    } catch (RuntimeException e) {
      log.warn("The error hook failed on {}; the processor goes on", context, e);
    }
    if (isHeard()) {
      tell(new ProcessorEvent.Failed(context, error));
    }
  }
}
