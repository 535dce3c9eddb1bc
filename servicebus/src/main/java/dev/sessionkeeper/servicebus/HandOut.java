package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.servicebus.ServiceBusHeldSession.Handed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The open deliveries of one hold, in order. The caller holds the session's lock. */
final class HandOut {
  private static final Logger log = LoggerFactory.getLogger(HandOut.class);

  private final OpenSession open;
  private final QueueContext queue;
  private final ArrayDeque<Handed> out = new ArrayDeque<>();
  private volatile boolean begun;

  HandOut(OpenSession open, QueueContext queue) {
    this.open = open;
    this.queue = queue;
  }

  /** Returns the due messages behind the open deliveries. */
  List<Delivery> next(int max) {
    queue.askedFor(max);
    open.inbox.want(max);
    var batch = new ArrayList<Delivery>();
    while (batch.size() < max) {
      var message = open.inbox.first();
      if (message.isEmpty() || queue.dueIn(message.get(), open.record()).isPositive()) {
        break;
      }
      open.inbox.poll();
      take(message.get()).ifPresent(batch::add);
    }
    return batch;
  }

  private Optional<Delivery> take(ServiceBusReceivedMessage message) {
    queue.seen(message);
    int attempt = attemptOf(message);
    if (isUsedUp(attempt)) {
      open.deadLetter(
              message,
              PoisonPolicy.USED_UP,
              open.record().lastError(),
              queue.deadLetterProperties(message, attempt - 1))
          .join();
      return Optional.empty();
    }
    var content = read(message, attempt);
    if (content.isEmpty()) {
      return Optional.empty();
    }
    if (!begun) {
      begun = true;
      open.markInHand(message.getSequenceNumber());
    }
    out.add(new Handed(message, attempt));
    return Optional.of(
        new Delivery(
            content.get(), message.getSequenceNumber(), attempt, QueueContext.enqueuedAt(message)));
  }

  /**
   * Reads a message. One that cannot be read is set aside, because it would block its session for
   * ever.
   */
  private Optional<Message> read(ServiceBusReceivedMessage message, int attempt) {
    try {
      return Optional.of(MessageCodec.decode(message));
    } catch (RuntimeException e) {
      log.warn(
          "Dead-lettered {} of {}: it cannot be read", message.getSequenceNumber(), open.id, e);
      open.deadLetter(
              message,
              QueueContext.UNREADABLE,
              e.toString(),
              queue.deadLetterProperties(message, attempt - 1))
          .join();
      return Optional.empty();
    }
  }

  /** Returns whether former owners have used all attempts without settling the message. */
  private boolean isUsedUp(int attempt) {
    return queue.settings().isDeadLetterAfter(attempt - 1) && !open.record().keepsTrying();
  }

  private int attemptOf(ServiceBusReceivedMessage message) {
    var record = open.record();
    return record.head() == message.getSequenceNumber() ? record.failures() + 1 : 1;
  }

  /** Returns whether this hold has delivered any message. */
  boolean hasBegun() {
    return begun;
  }

  Optional<Handed> peek() {
    return Optional.ofNullable(out.peek());
  }

  List<Handed> all() {
    return List.copyOf(out);
  }

  void settled() {
    out.remove();
  }

  /** Makes all open deliveries void; the messages come again in order. */
  void takeBackAll() {
    open.inbox.putBack(out.stream().map(Handed::message).toList());
    out.clear();
  }
}
