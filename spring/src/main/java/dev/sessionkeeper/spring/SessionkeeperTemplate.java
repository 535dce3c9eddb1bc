package dev.sessionkeeper.spring;

import dev.sessionkeeper.Codec;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionKeyExtractor;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * Sends values to queues. With queues in PostgreSQL a send joins the current transaction: the
 * message is stored if and only if the transaction commits.
 *
 * <pre>
 * {@code template.send("orders", order.customerId(), order); template.to("orders").session("c-42").id(key).notBefore(t).ttl(ofHours(1)).send(order); }
 * </pre>
 *
 * <p>Safe for many threads.
 */
public final class SessionkeeperTemplate {
  private final MessageSender sender;
  private final Codecs codecs;
  private final Map<Class<?>, Codec<Object>> known = new ConcurrentHashMap<>();

  public SessionkeeperTemplate(MessageSender sender, Codecs codecs) {
    this(sender, codecs, ObservationRegistry.NOOP);
  }

  /** Creates a template whose sends are observed as {@code keeper.send}. */
  public SessionkeeperTemplate(
      MessageSender sender, Codecs codecs, ObservationRegistry observations) {
    this.sender = new ObserveListeners(observations).sender(sender);
    this.codecs = codecs;
  }

  /** Sends one value in a session; the key may be any text. */
  public SendOutcome send(String queue, String session, Object value) {
    return to(queue).session(session).send(value);
  }

  /** Sends one value to an unordered queue. */
  public SendOutcome send(String queue, Object value) {
    return to(queue).send(value);
  }

  /** Sends messages in the order of the list. */
  public List<SendOutcome> send(String queue, List<Message> messages) {
    return sender.send(QueueName.of(queue), messages);
  }

  /** Starts a message with an id, properties, a time to live or an earliest time. */
  public Outgoing to(String queue) {
    return new Outgoing(QueueName.of(queue), UnaryOperator.identity());
  }

  private Payload payload(Object value) {
    return value instanceof Payload payload
        ? payload
        : known.computeIfAbsent(value.getClass(), this::codec).encode(value);
  }

  @SuppressWarnings("unchecked") // The codec of a value's own class accepts the value.
  private Codec<Object> codec(Class<?> type) {
    return (Codec<Object>) codecs.of(type);
  }

  /** A message to send. Immutable: every method returns a changed copy. */
  public final class Outgoing {
    private final QueueName queue;
    private final UnaryOperator<Message> more;

    private Outgoing(QueueName queue, UnaryOperator<Message> more) {
      this.queue = queue;
      this.more = more;
    }

    private Outgoing and(UnaryOperator<Message> next) {
      return new Outgoing(queue, message -> next.apply(more.apply(message)));
    }

    /** Sets the session by a key of any length; a long key is shortened the same way everywhere. */
    public Outgoing session(String key) {
      return and(message -> message.inSession(SessionId.fromKey(key)));
    }

    /**
     * Sets the id. The queue stores a second message with the same id only after the duplicate
     * window.
     */
    public Outgoing id(String id) {
      return and(message -> message.withId(MessageId.of(id)));
    }

    /** Adds a property: a short text beside the body. */
    public Outgoing property(String name, String value) {
      return and(message -> message.withProperty(name, value));
    }

    /** Sets the earliest time. Later messages of the session wait behind this message. */
    public Outgoing notBefore(Instant earliest) {
      return and(message -> message.notBefore(earliest));
    }

    /** Sets the time to live. A message that waits longer becomes a dead letter. */
    public Outgoing ttl(Duration longest) {
      return and(message -> message.withTtl(longest));
    }

    /** Sends the value. */
    public SendOutcome send(Object value) {
      return sender.send(queue, List.of(message(value))).get(0);
    }

    /** Sends the value in the session that the extractor chooses. */
    public <T> SendOutcome send(T value, SessionKeyExtractor<? super T> keys) {
      var message = message(value);
      var keyed = keys.extract(value).map(message::inSession).orElse(message);
      return sender.send(queue, List.of(keyed)).get(0);
    }

    private Message message(Object value) {
      return more.apply(Message.unordered(payload(value)));
    }
  }
}
