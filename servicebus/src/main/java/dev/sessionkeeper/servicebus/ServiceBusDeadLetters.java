package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The dead-letter subqueue of one queue: read by peeking, changed by receiving.
 *
 * <p>A subqueue has no sessions, and single messages cannot be selected, so a replay receives all
 * messages, keeps the selected ones and releases the rest.
 */
final class ServiceBusDeadLetters {
  private static final String LIST = "servicebus-dead";
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");
  private static final int PEEKED_AT_ONCE = 100;
  private static final Duration QUIET = Duration.ofSeconds(2);
  private static final String BROKER_EXPIRED = "TTLExpiredException";
  private static final String BROKER_USED_UP = "MaxDeliveryCountExceeded";

  private final QueueContext queue;
  private final ServiceBusReceiverClient receiver;
  private final ServiceBusSenderClient sender;

  ServiceBusDeadLetters(
      QueueContext queue, ServiceBusReceiverClient receiver, ServiceBusSenderClient sender) {
    this.queue = queue;
    this.receiver = receiver;
    this.sender = sender;
  }

  Page<DeadLetter> list(Optional<SessionId> session, Page.Request page) {
    long from = page.cursor().map(c -> PageCursor.numberOf(LIST, c) + 1).orElse(1L);
    Predicate<ServiceBusReceivedMessage> wanted =
        dead -> session.isEmpty() || session.get().value().equals(dead.getSessionId());
    var found = peek(from, wanted, page.limit() + 1).stream().map(this::describe).toList();
    return Page.of(
        found,
        page,
        letter -> letter.message().size(),
        letter -> PageCursor.after(LIST, letter.id()));
  }

  /** Returns one dead letter; empty if there is none with that id. */
  Optional<DeadLetter> find(String id) {
    return NUMBER.matcher(id).matches()
        ? receiver.peekMessages(1, Long.parseLong(id)).stream()
            .map(this::describe)
            .filter(letter -> letter.id().equals(id))
            .findFirst()
        : Optional.empty();
  }

  int count(Selection selection) {
    return peek(1, wanted(selection), Integer.MAX_VALUE).size();
  }

  private List<ServiceBusReceivedMessage> peek(
      long from, Predicate<ServiceBusReceivedMessage> wanted, int max) {
    var found = new ArrayList<ServiceBusReceivedMessage>();
    long next = from;
    while (found.size() < max) {
      var peeked = receiver.peekMessages(PEEKED_AT_ONCE, next).stream().toList();
      if (peeked.isEmpty()) {
        break;
      }
      peeked.stream().filter(wanted).limit((long) max - found.size()).forEach(found::add);
      next = peeked.get(peeked.size() - 1).getSequenceNumber() + 1;
    }
    return found;
  }

  /**
   * Appends dead letters to their queue in their original order, then removes them here. After a
   * crash in between, the repeated replay uses the same ids, which duplicate detection drops.
   */
  int replay(Selection selection) {
    var chosen = new ArrayList<>(take(sequencesOf(peek(1, wanted(selection), Integer.MAX_VALUE))));
    chosen.sort(Comparator.comparingLong(ServiceBusDeadLetters::originalSequence));
    var mode = queue.settings().mode();
    for (var dead : chosen) {
      sender.sendMessage(MessageCodec.replay(dead, mode, originalSequence(dead)));
      receiver.complete(dead);
    }
    return chosen.size();
  }

  boolean discard(String id) {
    if (!NUMBER.matcher(id).matches()) {
      return false;
    }
    var taken = take(Set.of(Long.parseLong(id)));
    taken.forEach(receiver::complete);
    return !taken.isEmpty();
  }

  /** Deletes all present dead letters and returns their number. */
  long discardAll() {
    var taken = take(sequencesOf(peek(1, dead -> true, Integer.MAX_VALUE)));
    taken.forEach(receiver::complete);
    return taken.size();
  }

  private static Set<Long> sequencesOf(List<ServiceBusReceivedMessage> messages) {
    return messages.stream()
        .map(ServiceBusReceivedMessage::getSequenceNumber)
        .collect(Collectors.toSet());
  }

  /** Locks the messages with these sequence numbers; releases others that come with them. */
  private List<ServiceBusReceivedMessage> take(Set<Long> sequences) {
    var chosen = new ArrayList<ServiceBusReceivedMessage>();
    var others = new ArrayList<ServiceBusReceivedMessage>();
    while (chosen.size() < sequences.size()) {
      var batch = receiver.receiveMessages(PEEKED_AT_ONCE, QUIET).stream().toList();
      if (batch.isEmpty()) {
        break;
      }
      batch.forEach(
          dead -> (sequences.contains(dead.getSequenceNumber()) ? chosen : others).add(dead));
    }
    others.forEach(receiver::abandon);
    return chosen;
  }

  private static Predicate<ServiceBusReceivedMessage> wanted(Selection selection) {
    return switch (selection) {
      case Selection.All all -> dead -> true;
      case Selection.OfSession of -> dead -> of.session().value().equals(dead.getSessionId());
      case Selection.OfMessages of -> {
        var ids = Set.copyOf(of.ids());
        yield dead -> ids.contains(MessageCodec.decode(dead).id());
      }
    };
  }

  private DeadLetter describe(ServiceBusReceivedMessage dead) {
    var enqueued =
        MessageCodec.number(dead, MessageCodec.ENQUEUED_AT)
            .map(Instant::ofEpochMilli)
            .orElseGet(() -> QueueContext.enqueuedAt(dead));
    return new DeadLetter(
        Long.toString(dead.getSequenceNumber()),
        MessageCodec.decode(dead),
        originalSequence(dead),
        MessageCodec.number(dead, MessageCodec.ATTEMPTS).orElse(0L).intValue(),
        reasonOf(dead),
        errorOf(dead),
        enqueued,
        MessageCodec.number(dead, MessageCodec.DEAD_AT)
            .map(Instant::ofEpochMilli)
            .orElseGet(() -> diedByItself(dead, enqueued)),
        MessageCodec.number(dead, MessageCodec.REPLAYS).orElse(0L).intValue());
  }

  /**
   * Returns when the broker set a message aside, which it does not say; an expired one at its
   * expiry.
   */
  private static Instant diedByItself(ServiceBusReceivedMessage dead, Instant enqueued) {
    var expiry = dead.getExpiresAt();
    return BROKER_EXPIRED.equals(dead.getDeadLetterReason()) && expiry != null
        ? expiry.toInstant()
        : enqueued;
  }

  private static String reasonOf(ServiceBusReceivedMessage dead) {
    var reason = dead.getDeadLetterReason();
    if (reason == null) {
      return "";
    }
    return switch (reason) {
      case BROKER_EXPIRED -> QueueContext.EXPIRED;
      case BROKER_USED_UP -> PoisonPolicy.USED_UP;
      default -> reason;
    };
  }

  private static String errorOf(ServiceBusReceivedMessage dead) {
    var description = dead.getDeadLetterErrorDescription();
    return description == null || BROKER_EXPIRED.equals(dead.getDeadLetterReason())
        ? ""
        : description;
  }

  private static long originalSequence(ServiceBusReceivedMessage dead) {
    long enqueued = dead.getEnqueuedSequenceNumber();
    return MessageCodec.number(dead, MessageCodec.SEQUENCE)
        .orElse(enqueued > 0 ? enqueued : dead.getSequenceNumber());
  }
}
