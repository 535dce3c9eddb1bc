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
 * Safe for threads.
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

  /** A send returned. Duplicates and refused messages are not accepted anew and leave no trace. */
  public void sent(SessionId session, SendOutcome outcome) {
    if (outcome instanceof SendOutcome.Stored stored) {
      add(new Accepted(session, stored.id(), stored.sequence()));
    }
  }

  /** A handler is about to run. */
  public void started(SessionId session, long epoch, Delivery delivery) {
    add(new Started(session, epoch, delivery.id(), delivery.sequence(), delivery.attempt()));
  }

  /** A handler has returned, or thrown and the failure policy has decided. */
  public void ended(SessionId session, long epoch, Delivery delivery, Settlement settlement) {
    add(new Ended(session, epoch, delivery.id(), delivery.sequence(), settlement));
  }

  /** The provider has confirmed a settlement. */
  public void settled(
      SessionId session, long epoch, MessageId id, long sequence, Settlement settlement) {
    add(new Settled(session, epoch, id, sequence, settlement));
  }

  /**
   * Records a settlement before it is sent, if it is confirmed later: whoever takes the session
   * after it took effect may be recorded before its confirmation is.
   *
   * @return to be run when the provider has confirmed it
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

  /** An owner was told that its lease is gone. */
  public void lost(SessionId session, long epoch) {
    add(new Lost(session, epoch));
  }

  /** A message left the queue without a handler: it expired, or a person set it aside. */
  public void setAside(SessionId session, MessageId id, long sequence) {
    add(new SetAside(session, id, sequence));
  }

  /** A dead letter was put back. */
  public void replayed(SessionId session, MessageId id, long sequence) {
    add(new Replayed(session, id, sequence));
  }

  /** Something that happened to a session. */
  public sealed interface Event {
    SessionId session();
  }

  /** The store took a message. */
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

  /** A message left without a handler. */
  public record SetAside(SessionId session, MessageId id, long sequence) implements Event {}

  /** A message came back. */
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
