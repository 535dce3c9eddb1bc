package dev.sessionkeeper.sender;

import dev.sessionkeeper.Codec;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionKeyExtractor;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

/**
 * Sends values of one type to one queue. The codec writes the payload; the extractor chooses the
 * session.
 *
 * <pre>
 * {@code var orders = QueueSender.to(provider, queue, codec).keyedBy(by(Order::customer)); orders.send(order); orders.sendAfter(Duration.ofHours(1), reminder); }
 * </pre>
 *
 * <p>Immutable and safe for use by many threads.
 */
public final class QueueSender<T> {
  private final QueueProvider provider;
  private final QueueName queue;
  private final Codec<? super T> codec;
  private final SessionKeyExtractor<? super T> keys;
  private final SessionKeyExtractor<? super Message> messageKeys;
  private final TimeSource time;

  private QueueSender(
      QueueProvider provider,
      QueueName queue,
      Codec<? super T> codec,
      SessionKeyExtractor<? super T> keys,
      SessionKeyExtractor<? super Message> messageKeys,
      TimeSource time) {
    this.provider = provider;
    this.queue = queue;
    this.codec = codec;
    this.keys = keys;
    this.messageKeys = messageKeys;
    this.time = time;
  }

  /** Returns a sender without sessions: for unordered queues, or to call {@link #keyedBy} on. */
  public static <T> QueueSender<T> to(
      QueueProvider provider, QueueName queue, Codec<? super T> codec) {
    return new QueueSender<>(
        provider,
        queue,
        codec,
        SessionKeyExtractor.none(),
        SessionKeyExtractor.none(),
        TimeSource.system());
  }

  /** Returns a sender that takes the session from the value. */
  public QueueSender<T> keyedBy(SessionKeyExtractor<? super T> extractor) {
    return new QueueSender<>(provider, queue, codec, extractor, messageKeys, time);
  }

  /** Returns a sender that takes the session from the message if the value names none. */
  public QueueSender<T> keyedByMessage(SessionKeyExtractor<? super Message> extractor) {
    return new QueueSender<>(provider, queue, codec, keys, extractor, time);
  }

  /** Returns a sender with another clock for {@link #sendAfter}. */
  public QueueSender<T> time(TimeSource wished) {
    return new QueueSender<>(provider, queue, codec, keys, messageKeys, wished);
  }

  /**
   * Sends one value.
   *
   * @throws KeeperException.SessionModeMismatch if the queue is ordered and the value has no key
   */
  public SendOutcome send(T value) {
    return provider.send(queue, message(value));
  }

  /** Sends one value after changing its message: an id, a property, a time to live. */
  public SendOutcome send(T value, UnaryOperator<Message> more) {
    return provider.send(queue, more.apply(message(value)));
  }

  /** Sends values in the order of the list. */
  public List<SendOutcome> sendAll(List<? extends T> values) {
    var messages = new ArrayList<Message>(values.size());
    values.forEach(value -> messages.add(message(value)));
    return provider.send(queue, messages);
  }

  /** Schedules one value; later messages of its session wait behind it. */
  public SendOutcome sendAt(Instant notBefore, T value) {
    return send(value, message -> message.notBefore(notBefore));
  }

  /** Schedules one value for after this delay, by the clock of this sender. */
  public SendOutcome sendAfter(Duration delay, T value) {
    return sendAt(time.instant().plus(delay), value);
  }

  /**
   * Sends one value on a virtual thread. Two concurrent sends of one session have no order; wait
   * for the first, or send a list.
   */
  public CompletionStage<SendOutcome> sendAsync(T value) {
    var message = message(value);
    var outcome = new CompletableFuture<SendOutcome>();
    Thread.ofVirtual()
        .name("keeper-send")
        .start(
            () -> {
              try {
                outcome.complete(provider.send(queue, message));
              } catch (RuntimeException | Error e) {
                outcome.completeExceptionally(e);
              }
            });
    return outcome;
  }

  /** Returns the message that {@link #send(Object)} would send. */
  public Message message(T value) {
    var message = Message.unordered(codec.encode(value));
    return keys.extract(value)
        .or(() -> messageKeys.extract(message))
        .map(message::inSession)
        .orElse(message);
  }
}
