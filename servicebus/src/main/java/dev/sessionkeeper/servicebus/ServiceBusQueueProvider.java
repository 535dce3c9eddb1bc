package dev.sessionkeeper.servicebus;

import com.azure.core.amqp.AmqpRetryMode;
import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.credential.TokenCredential;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.RemovableQueues;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Queues of Azure Service Bus, with its native sessions.
 *
 * <p>The broker provides exclusive ownership, lock renewal and expiry, dead letters and duplicate
 * detection. This provider adds epochs, attempts, delays of retries and the version of the state,
 * which it keeps in the native session state. {@link #capabilities()} lists what the provider
 * cannot keep.
 */
public final class ServiceBusQueueProvider
    implements QueueProvider, DeadLetterQueues, RemovableQueues, CountableQueues {
  private static final String NO_PURGE =
      "the broker cannot purge messages; delete the queue and create it again";
  private static final Capabilities CAPABILITIES =
      new Capabilities(
          "servicebus",
          new Limits(1000, 192 * 1024, 64, 32 * 1024),
          true,
          false,
          false,
          Map.of(
              "S-07", "the broker chooses which session is accepted next",
              "D-02", "the broker appends: replayed messages come after newer ones, in order",
              "Q-07a", "the broker counts the age of a message, whatever its session waits for",
              "O-03", "the broker has no place where a session could be set aside",
              "O-06", NO_PURGE,
              "O-06a", NO_PURGE));

  private final ServiceBusClients clients;
  private final NamedEntities named;
  private final DescribeQueues describe;
  private final Timing timing;
  private final BrokerClock clock;
  private final Map<QueueName, OpenQueue> queues = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private ServiceBusQueueProvider(Builder builder) {
    try {
      named = new NamedEntities(builder.named);
      clients = new ServiceBusClients(builder.access, builder.retry, named);
      var administration = builder.access.open(new ServiceBusAdministrationClientBuilder());
      if (builder.administrationEndpoint != null) {
        administration.addPolicy(new SendAdministrationTo(builder.administrationEndpoint));
      }
      describe = new DescribeQueues(administration.buildClient());
    } catch (IllegalArgumentException e) {
      throw builder.access.refused();
    }
    var patience = builder.retry.getTryTimeout().multipliedBy(builder.retry.getMaxRetries() + 1L);
    timing = new Timing(builder.time, patience);
    clock = new BrokerClock(builder.time);
  }

  /** Returns queues of a namespace by its connection string, which needs the right to manage. */
  public static ServiceBusQueueProvider create(String connectionString) {
    return builder(connectionString).build();
  }

  public static Builder builder(String connectionString) {
    return new Builder(new Access.ConnectionString(connectionString));
  }

  /**
   * Builds a provider for a namespace by its host, such as {@code shop.servicebus.windows.net}, and
   * a credential of Entra ID, such as that of a managed identity.
   */
  public static Builder builder(String namespace, TokenCredential credential) {
    return new Builder(new Access.Token(namespace, credential));
  }

  @Override
  public Capabilities capabilities() {
    return CAPABILITIES;
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    requireOpen();
    if (!named.isEmpty()) {
      return named.declare(queue, settings);
    }
    boolean created = describe.declare(queue, settings);
    Optional.ofNullable(queues.get(queue)).ifPresent(OpenQueue::forgetSettings);
    return created;
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    requireOpen();
    return named.isEmpty() ? describe.settings(queue) : named.settings(queue);
  }

  @Override
  public List<QueueName> queues() {
    requireOpen();
    return named.isEmpty() ? describe.queues() : named.queues();
  }

  @Override
  public List<QueueName> declaredQueues() {
    requireOpen();
    return describe.declaredQueues();
  }

  @Override
  public Counts counts(QueueName queue) {
    requireOpen();
    return describe.counts(queue);
  }

  @Override
  public long purge(QueueName queue, Part part) {
    requireOpen();
    if (describe.settings(queue).isEmpty()) {
      throw new KeeperException.UnknownQueue(queue);
    }
    return switch (part) {
      case MESSAGES ->
          throw new KeeperException.NotSupported(
              "servicebus", "purge messages; delete the queue and create it again");
      case DEAD_LETTERS ->
          change(queue, "The purge of dead letters", ServiceBusDeadLetters::discardAll);
    };
  }

  @Override
  public boolean delete(QueueName queue) {
    requireOpen();
    Optional.ofNullable(queues.remove(queue)).ifPresent(OpenQueue::close);
    return describe.delete(queue);
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    var open = open(queue);
    var mode = open.settings().mode();
    CAPABILITIES.limits().check(queue, mode, messages);
    return messages.isEmpty() ? List.of() : open.sending().send(messages, mode);
  }

  @Override
  public AddressableSessions sessions(QueueName queue) {
    var open = open(queue);
    open.settings().mode().requireSessions(queue);
    return open.sessions();
  }

  @Override
  public MessageSource messages(QueueName queue) {
    var open = open(queue);
    open.settings().mode().requireNoSessions(queue);
    return open.messages();
  }

  @Override
  public Page<DeadLetter> deadLetters(
      QueueName queue, Optional<SessionId> session, Page.Request page) {
    return read(queue, letters -> letters.list(session, page));
  }

  @Override
  public Optional<DeadLetter> deadLetter(QueueName queue, String id) {
    return read(queue, letters -> letters.find(id));
  }

  @Override
  public int countReplayable(QueueName queue, Selection selection) {
    return read(queue, letters -> letters.count(selection));
  }

  @Override
  public int replay(QueueName queue, Selection selection) {
    named.requireReplayable(queue);
    return change(queue, "The replay of queue " + queue, letters -> letters.replay(selection));
  }

  @Override
  public boolean discard(QueueName queue, String id) {
    return change(queue, "The discard of dead letter " + id, letters -> letters.discard(id));
  }

  private <T> T read(QueueName queue, Function<ServiceBusDeadLetters, T> call) {
    var letters = open(queue).deadLetters();
    try {
      return call.apply(letters);
    } catch (RuntimeException e) {
      throw Translate.error(queue, e);
    }
  }

  private <T> T change(QueueName queue, String what, Function<ServiceBusDeadLetters, T> call) {
    var letters = open(queue).deadLetters();
    try {
      return call.apply(letters);
    } catch (RuntimeException e) {
      throw Translate.afterSending(queue, what, e);
    }
  }

  private OpenQueue open(QueueName queue) {
    requireOpen();
    return queues.computeIfAbsent(
        queue, name -> new OpenQueue(name, clients, this::settings, timing, clock));
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.Closed("The Service Bus provider");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      queues.values().forEach(OpenQueue::close);
    }
  }

  /** The options of a provider. Each option has a default. */
  public static final class Builder {
    private final Access access;
    private final Map<QueueName, NamedEntities.Named> named = new HashMap<>();
    private TimeSource time = TimeSource.system();
    private @Nullable URI administrationEndpoint;
    private AmqpRetryOptions retry =
        new AmqpRetryOptions()
            .setTryTimeout(Duration.ofSeconds(20))
            .setMaxRetries(3)
            .setDelay(Duration.ofMillis(200))
            .setMode(AmqpRetryMode.EXPONENTIAL);

    private Builder(Access access) {
      this.access = access;
    }

    /**
     * Names an existing queue with its settings. A provider with named queues or subscriptions uses
     * no others and asks the namespace about none, so it needs no right to manage.
     */
    public Builder queue(QueueName queue, QueueSettings settings) {
      named.put(queue, new NamedEntities.Named(new BrokerEntity.Queue(queue), settings));
      return this;
    }

    /**
     * Names an existing subscription as a queue of this name: messages are sent to its topic and
     * received from the subscription. Its dead letters can be read and discarded, but not replayed.
     */
    public Builder subscription(
        QueueName queue, String topic, String subscription, QueueSettings settings) {
      named.put(
          queue,
          new NamedEntities.Named(new BrokerEntity.Subscription(topic, subscription), settings));
      return this;
    }

    /**
     * Sets where queues are created and described. The default is the namespace itself, over HTTPS.
     */
    public Builder administrationEndpoint(URI endpoint) {
      administrationEndpoint = endpoint;
      return this;
    }

    /** Sets how the SDK retries. The default is 20 seconds per attempt and 3 further attempts. */
    public Builder retry(AmqpRetryOptions options) {
      retry = options;
      return this;
    }

    /** Sets the clock of this process. The default is the machine's. */
    public Builder time(TimeSource source) {
      time = source;
      return this;
    }

    public ServiceBusQueueProvider build() {
      return new ServiceBusQueueProvider(this);
    }
  }
}
