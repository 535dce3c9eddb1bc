package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.SessionHooks.ErrorContext;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;

/** Reports events to the listeners and the error hook. Logs and ignores exceptions of either. */
final class Report {
  private static final Logger log = ProcessorLog.LOG;

  private final QueueName queue;
  private final List<Consumer<? super ProcessorEvent>> listeners;
  private final SessionHooks hooks;

  Report(QueueName queue, List<Consumer<? super ProcessorEvent>> listeners, SessionHooks hooks) {
    this.queue = queue;
    this.listeners = List.copyOf(listeners);
    this.hooks = hooks;
  }

  /** Returns whether a listener is set, so that an event is worth creating. */
  boolean isHeard() {
    return !listeners.isEmpty();
  }

  void tell(ProcessorEvent event) {
    for (var listener : listeners) {
      try {
        listener.accept(event);
      } catch (RuntimeException e) {
        log.warn("A listener failed on {}; the processor continues", event, e);
      }
    }
  }

  /** Reports a failure while no lease was held. */
  void failed(Phase phase, Throwable error) {
    failed(
        new ErrorContext(queue, phase, Optional.empty(), Optional.empty(), Optional.empty()),
        error);
  }

  void failed(Phase phase, Hold hold, Throwable error) {
    failed(contextOf(phase, hold, Optional.empty()), error);
  }

  void failed(Phase phase, Hold hold, Delivery delivery, Throwable error) {
    failed(contextOf(phase, hold, Optional.of(delivery)), error);
  }

  ErrorContext contextOf(Phase phase, Hold hold, Optional<Delivery> delivery) {
    return new ErrorContext(
        queue, phase, Optional.of(hold.id()), delivery, Optional.of(hold.lockedUntil()));
  }

  private void failed(ErrorContext context, Throwable error) {
    log.debug("{} failed, session {}", context.phase(), context.session(), error);
    try {
      hooks.onError(error, context);
    } catch (RuntimeException e) {
      log.warn("The error hook failed on {}; the processor continues", context, e);
    }
    if (isHeard()) {
      tell(new ProcessorEvent.Failed(context, error));
    }
  }
}
