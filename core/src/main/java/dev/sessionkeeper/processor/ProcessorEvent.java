package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import java.time.Duration;

/** An event of a running processor, for metrics, traces and dashboards. Listeners must be fast. */
public sealed interface ProcessorEvent {

  /** The processor accepted a session. */
  record SessionOpened(SessionId session, long epoch) implements ProcessorEvent {}

  /** The processor released a session. */
  record SessionClosed(
      SessionId session, long epoch, CloseReason reason, int messages, Duration held)
      implements ProcessorEvent {}

  /** A handler is about to be called. */
  record HandlingStarted(SessionId session, long epoch, Delivery delivery)
      implements ProcessorEvent {}

  /** A handler returned, or threw and the failure policy decided. */
  record HandlingEnded(
      SessionId session, long epoch, Delivery delivery, Settlement settlement, Duration took)
      implements ProcessorEvent {}

  /** The processor renewed a lease. */
  record LeaseRenewed(SessionId session, long epoch) implements ProcessorEvent {}

  /** The lease was lost: the handler is interrupted, and its settlement is refused. */
  record LeaseLost(SessionId session, long epoch) implements ProcessorEvent {}

  /**
   * A delivery came before its predecessor was settled. The provider broke its contract; this must
   * never happen.
   */
  record OrderViolated(SessionId session, long epoch, long previous, long sequence)
      implements ProcessorEvent {}

  /** Something failed; also told to {@link SessionHooks#onError}. */
  record Failed(SessionHooks.ErrorContext context, Throwable error) implements ProcessorEvent {}
}
