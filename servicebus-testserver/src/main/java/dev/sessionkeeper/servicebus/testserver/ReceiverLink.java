package dev.sessionkeeper.servicebus.testserver;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.UnsignedInteger;
import org.apache.qpid.proton.amqp.messaging.Rejected;
import org.apache.qpid.proton.amqp.messaging.Released;
import org.apache.qpid.proton.amqp.messaging.Source;
import org.apache.qpid.proton.amqp.transport.ErrorCondition;
import org.apache.qpid.proton.amqp.transport.SenderSettleMode;
import org.apache.qpid.proton.engine.Delivery;
import org.apache.qpid.proton.engine.Sender;
import org.jspecify.annotations.Nullable;

/**
 * A client's receiver: waits for a session, holds it, gets its messages and settles them.
 *
 * <p>On a queue without sessions it gets any free message. Event loop only.
 */
final class ReceiverLink {
  private static final long DEFAULT_WAIT_MILLIS = 59_000;

  final BrokerQueue queue;
  private final Sender link;
  private final InstantSource clock;
  private @Nullable BrokerSession session;
  private boolean waiting;
  private boolean open;
  private long waitUntil;

  ReceiverLink(Sender link, BrokerQueue queue, InstantSource clock) {
    this.link = link;
    this.queue = queue;
    this.clock = clock;
  }

  String name() {
    return link.getName();
  }

  void attach() {
    var source = (Source) link.getRemoteSource();
    Map<?, ?> filter = source.getFilter();
    boolean wantsSession = filter != null && filter.containsKey(Wire.SESSION_FILTER);
    queue.receivers.add(this);
    if (!wantsSession && queue.requiresSession()) {
      refuse(Wire.NOT_ALLOWED, "A queue that requires sessions has no receivers without one");
    } else if (!wantsSession) {
      session = queue.session(null);
      link.setSource(source);
      link.open();
      open = true;
      pump();
    } else if (filter.get(Wire.SESSION_FILTER) instanceof String wanted) {
      acceptNamed(wanted);
    } else {
      waiting = true;
      waitUntil = clock.millis() + askedWait();
      acceptNext(clock.millis());
    }
  }

  private long askedWait() {
    var properties = link.getRemoteProperties();
    return properties != null && properties.get(Wire.TIMEOUT) instanceof UnsignedInteger millis
        ? millis.longValue()
        : DEFAULT_WAIT_MILLIS;
  }

  private void acceptNamed(String wanted) {
    var named = queue.session(wanted);
    if (named.holder == null) {
      grant(named);
    } else {
      refuse(Wire.SESSION_LOCKED, "The session '" + wanted + "' is locked by another receiver");
    }
  }

  /** Takes a session that became free, or gives up when the client's wait is over. */
  void acceptNext(long now) {
    if (!waiting) {
      return;
    }
    var next = queue.nextSession(now);
    if (next.isPresent()) {
      grant(next.get());
    } else if (now >= waitUntil) {
      refuse(Wire.TIMEOUT, "No session became free in time");
    }
  }

  private void grant(BrokerSession granted) {
    waiting = false;
    queue.grant(granted, this, clock.millis());
    session = granted;
    var source = new Source();
    source.setAddress(((Source) link.getRemoteSource()).getAddress());
    source.setFilter(new HashMap<Symbol, Object>(Map.of(Wire.SESSION_FILTER, granted.id)));
    link.setSource(source);
    link.setProperties(
        new HashMap<Symbol, Object>(Map.of(Wire.LOCKED_UNTIL, Wire.ticks(granted.lockedUntil))));
    link.open();
    open = true;
    pump();
  }

  private void refuse(Symbol condition, String why) {
    gone();
    AnswerLinks.refuse(link, condition, why);
  }

  /** Sends free messages, in order, as far as the client gave credit. */
  void pump() {
    var from = session;
    if (!open || from == null) {
      return;
    }
    long now = clock.millis();
    for (var message : from.freeMessages(now, link.getCredit())) {
      send(from, message, now);
    }
  }

  /** Reacts to a change in the queue. */
  void wake() {
    acceptNext(clock.millis());
    pump();
  }

  private void send(BrokerSession from, StoredMessage message, long now) {
    long until =
        queue.requiresSession()
            ? from.lockedUntil
            : now + queue.options().lockDuration().toMillis();
    var token = queue.lock(message, this, until);
    var delivery = link.delivery(Wire.guid(token));
    var bytes = Wire.encode(message);
    link.send(bytes, 0, bytes.length);
    if (link.getSenderSettleMode() == SenderSettleMode.SETTLED) {
      delivery.settle();
      queue.remove(message);
    } else {
      message.delivery = delivery;
      delivery.setContext(message);
    }
    link.advance();
  }

  /**
   * Applies the client's outcome, and answers with the same outcome or with lock lost. Returns
   * whether there was one to apply.
   */
  boolean settled(Delivery delivery) {
    var outcome = delivery.getRemoteState();
    if (!(delivery.getContext() instanceof StoredMessage message)
        || (outcome == null && !delivery.remotelySettled())) {
      return false;
    }
    delivery.setContext(null);
    if (message.holder != this || !delivery.equals(message.delivery)) {
      var rejected = new Rejected();
      rejected.setError(
          new ErrorCondition(
              queue.requiresSession() ? Wire.SESSION_LOCK_LOST : Wire.MESSAGE_LOCK_LOST,
              "The lock supplied is invalid"));
      delivery.disposition(rejected);
    } else {
      queue.settle(message, outcome);
      delivery.disposition(outcome == null ? Released.getInstance() : outcome);
    }
    delivery.settle();
    Broker.wakeReceivers(queue);
    return true;
  }

  /** Ends an expired hold: open deliveries count as failed deliveries. */
  void expire() {
    for (var message : inHand()) {
      queue.unlock(message);
      queue.countFailure(message);
    }
    gone();
    link.setCondition(new ErrorCondition(Wire.SESSION_LOCK_LOST, "The session lock has expired"));
    link.close();
  }

  /**
   * Handles the end of the link: what it held becomes free, without counting as a failed delivery.
   */
  void gone() {
    queue.receivers.remove(this);
    waiting = false;
    open = false;
    link.setContext(null);
    inHand().forEach(queue::unlock);
    var held = session;
    session = null;
    if (held != null && held.holder == this) {
      held.holder = null;
      queue.forgetIfEmpty(held);
    }
    Broker.wakeReceivers(queue);
  }

  private List<StoredMessage> inHand() {
    return session == null
        ? List.of()
        : session.messages.values().stream().filter(message -> message.holder == this).toList();
  }
}
