package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The recorded events of a run, in order. Checkers such as {@link CheckOrder} read it afterwards.
 * Thread-safe.
 */
public final class History {
  private final List<Optional<Event>> events = new ArrayList<>();

  /** Returns the events that were recorded so far. */
  public synchronized List<Event> events() {
    return events.stream().flatMap(Optional::stream).toList();
  }

  private synchronized void add(Event event) {
    events.add(Optional.of(event));
  }

  /** Records that a send returned. Duplicates and refused messages are not recorded. */
  public void sent(SessionId session, SendOutcome outcome) {
    if (outcome instanceof SendOutcome.Stored stored) {
      add(new Accepted(session, stored.id(), stored.sequence()));
    }
  }

  /** Records that a handler is about to run. */
  public void started(SessionId session, long epoch, Delivery delivery) {
    add(new Started(session, epoch, delivery.id(), delivery.sequence(), delivery.attempt()));
  }

  /** Records that a handler has returned, or has thrown and the failure policy has decided. */
  public void ended(SessionId session, long epoch, Delivery delivery, Settlement settlement) {
    add(new Ended(session, epoch, delivery.id(), delivery.sequence(), settlement));
  }

  /** Records that the provider has confirmed a settlement. */
  public void settled(
      SessionId session, long epoch, MessageId id, long sequence, Settlement settlement) {
    add(new Settled(session, epoch, id, sequence, settlement));
  }

  /**
   * Records a settlement before it is sent, if it is confirmed later: the next owner of the session
   * may be recorded before the confirmation.
   *
   * @return to be run when the provider has confirmed the settlement
   */
  public synchronized Runnable settling(
      SessionId session, long epoch, MessageId id, long sequence, Settlement settlement) {
    int place = events.size();
    events.add(Optional.empty());
    return () -> confirm(place, new Settled(session, epoch, id, sequence, settlement));
  }

  private synchronized void confirm(int place, Event event) {
    events.set(place, Optional.of(event));
  }

  /** Records that an owner learned that its lease is lost. */
  public void lost(SessionId session, long epoch) {
    add(new Lost(session, epoch));
  }

  /**
   * Records that a message left the queue without a handler: it expired, or an operator set it
   * aside.
   */
  public void setAside(SessionId session, MessageId id, long sequence) {
    add(new SetAside(session, id, sequence));
  }

  /** Records that a dead letter was replayed. */
  public void replayed(SessionId session, MessageId id, long sequence) {
    add(new Replayed(session, id, sequence));
  }

  /** An event of a session. */
  public sealed interface Event {
    SessionId session();
  }

  /** The store accepted a message. */
  public record Accepted(SessionId session, MessageId id, long sequence) implements Event {}

  /** A handler began. */
  public record Started(SessionId session, long epoch, MessageId id, long sequence, int attempt)
      implements Event {}

  /** A handler ended. */
  public record Ended(
      SessionId session, long epoch, MessageId id, long sequence, Settlement settlement)
      implements Event {}

  /** A settlement was confirmed. */
  public record Settled(
      SessionId session, long epoch, MessageId id, long sequence, Settlement settlement)
      implements Event {}

  /** A lease was lost. */
  public record Lost(SessionId session, long epoch) implements Event {}

  /** A message was set aside without a handler. */
  public record SetAside(SessionId session, MessageId id, long sequence) implements Event {}

  /** A dead letter was replayed. */
  public record Replayed(SessionId session, MessageId id, long sequence) implements Event {}

  /** Returns whether a settlement ends its message. */
  public static boolean isFinal(Settlement settlement) {
    return switch (settlement) {
      case Settlement.Complete complete -> true;
      case Settlement.DeadLetter letter -> true;
      case Settlement.Retry retry -> false;
      case Settlement.Park park -> false;
    };
  }
}
