package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** The state that all workers of one queue share. Safe for any thread. */
final class QueueContext {
  static final String EXPIRED = "expired";
  static final String UNREADABLE = "unreadable message";
  private static final int REMEMBERED = 10_000;

  final QueueName name;
  private final Supplier<QueueSettings> settings;
  private final BrokerClock clock;
  private final Epochs epochs = new Epochs();
  private volatile int usualBatch = 1;
  private final TimeSource time;
  private final LinkedHashMap<Long, Long> deliveryCounts =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
          return size() > REMEMBERED;
        }
      };

  private final Set<Long> untouched = new HashSet<>();

  QueueContext(
      QueueName name, Supplier<QueueSettings> settings, BrokerClock clock, TimeSource time) {
    this.name = name;
    this.settings = settings;
    this.clock = clock;
    this.time = time;
  }

  long nanoTime() {
    return time.nanoTime();
  }

  QueueSettings settings() {
    return settings.get();
  }

  BrokerClock clock() {
    return clock;
  }

  /**
   * Returns how many messages a worker usually requests at once; the first request should ask for
   * as many.
   */
  int usualBatch() {
    return usualBatch;
  }

  void askedFor(int messages) {
    if (messages != usualBatch) {
      usualBatch = messages;
    }
  }

  /** Returns the record of a session for a new owner with this first message. */
  SessionRecord taken(SessionId session, SessionRecord last, ServiceBusReceivedMessage head) {
    long sequence = head.getSequenceNumber();
    var lockTaken = head.getLockedUntil().toInstant().minus(settings().lockDuration());
    boolean expired = hasExpired(head);
    return last.taken(
        epochs.next(session, last.epoch(), lockTaken, sequence),
        sequence,
        !takeUntouched(sequence) && expired);
  }

  /** Remembers the broker's delivery count, to tell later whether it has counted a lost lock. */
  void seen(ServiceBusReceivedMessage message) {
    synchronized (deliveryCounts) {
      deliveryCounts.put(message.getSequenceNumber(), message.getDeliveryCount());
    }
  }

  /** Returns whether a lock on the open message expired since this process saw it last. */
  private boolean hasExpired(ServiceBusReceivedMessage message) {
    synchronized (deliveryCounts) {
      return message.getDeliveryCount()
          > deliveryCounts.getOrDefault(message.getSequenceNumber(), 0L);
    }
  }

  /**
   * Records that the owner lost the session before it was delivered this message, which is no
   * attempt.
   */
  void untouched(long sequence) {
    synchronized (deliveryCounts) {
      untouched.add(sequence);
    }
  }

  private boolean takeUntouched(long sequence) {
    synchronized (deliveryCounts) {
      return untouched.remove(sequence);
    }
  }

  /** Returns how long a head has to wait for its retry or its {@code notBefore}. */
  Duration dueIn(ServiceBusReceivedMessage message, SessionRecord record) {
    long due = MessageCodec.notBefore(message);
    if (record.head() == message.getSequenceNumber()) {
      due = Math.max(due, record.dueAt());
    }
    return due == 0 ? Duration.ZERO : clock.until(due);
  }

  static Instant enqueuedAt(ServiceBusReceivedMessage message) {
    return message.getEnqueuedTime().toInstant();
  }

  /** Returns the properties that a dead letter has in addition to the broker's (D-01). */
  Map<String, Object> deadLetterProperties(ServiceBusReceivedMessage message, int attempts) {
    var kept = new HashMap<String, Object>();
    // A message that was replayed before keeps its first sequence number.
    kept.put(
        MessageCodec.SEQUENCE,
        MessageCodec.number(message, MessageCodec.SEQUENCE).orElse(message.getSequenceNumber()));
    kept.put(MessageCodec.ATTEMPTS, (long) attempts);
    kept.put(MessageCodec.DEAD_AT, clock.now().toEpochMilli());
    kept.put(MessageCodec.ENQUEUED_AT, enqueuedAt(message).toEpochMilli());
    return kept;
  }
}
