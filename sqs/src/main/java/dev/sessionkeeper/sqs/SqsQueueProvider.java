package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.RemovableQueues;
import dev.sessionkeeper.spi.SessionSource;
import dev.sessionkeeper.time.TimeSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * Queues of AWS SQS: FIFO queues whose message groups are sessions, and standard queues.
 *
 * <p>SQS gives order within a group, durability and duplicate detection. Ownership is emulated: a
 * group is held while messages of it are in flight, at most ten at a time, renewed together. {@link
 * #capabilities()} lists what the provider cannot keep.
 */
public final class SqsQueueProvider
    implements QueueProvider, DeadLetterQueues, RemovableQueues, CountableQueues {
  private static final Limits LIMITS = new Limits(1000, 512 * 1024, 64, 32 * 1024);

  private final SqsClient client;
  private final TimeSource time;
  private final Optional<SessionStateStore> states;
  private final Capabilities capabilities;
  private final DescribeQueues describe;
  private final StoreClock clock;
  private final ExecutorService io =
      Executors.newCachedThreadPool(Thread.ofPlatform().daemon().name("sqs-", 0).factory());
  private final Map<QueueName, OpenQueue> queues = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private SqsQueueProvider(Builder builder) {
    client = builder.client;
    time = builder.time;
    states = builder.states;
    capabilities = capabilities(builder.states.isPresent());
    describe = new DescribeQueues(builder.client, builder.prefix);
    clock = new StoreClock(builder.time);
  }

  private static Capabilities capabilities(boolean hasStates) {
    var impossible = new HashMap<String, String>();
    impossible.put("Q-03a", "SQS remembers ids for 5 minutes, whatever the queue says");
    impossible.put("Q-07a", "SQS counts the age of a message, whatever its group waits for");
    impossible.put("S-07", "SQS chooses the message group that is received next");
    impossible.put("D-02", "SQS appends: replayed messages come after newer ones, in order");
    impossible.put("O-03", "SQS has no place where a message group could be set aside");
    impossible.put("O-06a", "SQS tells owners nothing of a purge, and its counts are estimates");
    impossible.put("O-07a", "SQS keeps the name of a deleted queue for 60 seconds");
    if (!hasStates) {
      impossible.put("S-09", "SQS keeps no state of a message group; give a state store");
    }
    return new Capabilities("sqs", LIMITS, true, false, false, impossible);
  }

  /** Returns queues of an account and region; the caller closes the client. */
  public static SqsQueueProvider create(SqsClient client) {
    return builder(client).build();
  }

  public static Builder builder(SqsClient client) {
    return new Builder(client);
  }

  @Override
  public Capabilities capabilities() {
    return capabilities;
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    requireOpen();
    boolean created = describe.declare(queue, settings);
    Optional.ofNullable(queues.get(queue)).ifPresent(OpenQueue::forgetSettings);
    return created;
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    requireOpen();
    try {
      return describe.find(queue).map(describe::settings);
    } catch (SdkException e) {
      throw SqsCalls.translate(queue, e);
    }
  }

  @Override
  public List<QueueName> queues() {
    requireOpen();
    try {
      return describe.queues();
    } catch (SdkException e) {
      throw SqsCalls.isAccessRefused(e)
          ? new KeeperException.Misconfigured("SQS refused to list queues: " + e.getMessage(), e)
          : new KeeperException.Unavailable("The list of SQS queues", e);
    }
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    var open = open(queue);
    LIMITS.check(queue, open.mode(), messages);
    return messages.isEmpty() ? List.of() : open.sending().send(messages);
  }

  @Override
  public SessionSource sessions(QueueName queue) {
    var open = open(queue);
    open.mode().requireSessions(queue);
    return open.sessions();
  }

  @Override
  public MessageSource messages(QueueName queue) {
    var open = open(queue);
    open.mode().requireNoSessions(queue);
    return open.messages();
  }

  @Override
  public Page<DeadLetter> deadLetters(
      QueueName queue, Optional<SessionId> session, Page.Request page) {
    var open = open(queue);
    if (open.mode() == QueueMode.ORDERED) {
      open.sessions().sweep();
    }
    return open.deadLetters().list(session, page);
  }

  @Override
  public int countReplayable(QueueName queue, Selection selection) {
    return open(queue).deadLetters().count(selection);
  }

  @Override
  public int replay(QueueName queue, Selection selection) {
    return open(queue).deadLetters().replay(selection);
  }

  @Override
  public boolean discard(QueueName queue, String id) {
    return open(queue).deadLetters().discard(id);
  }

  @Override
  public Counts counts(QueueName queue) {
    requireOpen();
    return removing(queue).counts();
  }

  /**
   * Purges as {@link RemovableQueues} says; SQS needs up to a minute, and allows one purge of a
   * queue per minute.
   */
  @Override
  public long purge(QueueName queue, Part part) {
    requireOpen();
    var removing = removing(queue);
    if (part == Part.MESSAGES) {
      forget(queue);
    }
    return removing.purge(part, () -> open(queue).deadLetters());
  }

  @Override
  public boolean delete(QueueName queue) {
    requireOpen();
    var found = describe.find(queue);
    if (found.isEmpty()) {
      return false;
    }
    forget(queue);
    new RemoveQueue(client, queue, found.get()).delete();
    states.ifPresent(store -> store.forget(queue));
    return true;
  }

  private RemoveQueue removing(QueueName queue) {
    var found = describe.find(queue).orElseThrow(() -> new KeeperException.UnknownQueue(queue));
    return new RemoveQueue(client, queue, found);
  }

  /** Closes this process's handle of a queue; the next use opens it anew. */
  private void forget(QueueName queue) {
    Optional.ofNullable(queues.remove(queue)).ifPresent(OpenQueue::close);
  }

  private OpenQueue open(QueueName queue) {
    requireOpen();
    return queues.computeIfAbsent(queue, this::find);
  }

  private OpenQueue find(QueueName queue) {
    var found = describe.find(queue).orElseThrow(() -> new KeeperException.UnknownQueue(queue));
    return new OpenQueue(queue, found, describe, client, clock, time, io, states);
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.Closed("The SQS provider");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      queues.values().forEach(OpenQueue::close);
      io.shutdown();
    }
  }

  /** The options of a provider. Each option has a default. */
  public static final class Builder {
    private final SqsClient client;
    private TimeSource time = TimeSource.system();
    private String prefix = "";
    private Optional<SessionStateStore> states = Optional.empty();

    private Builder(SqsClient client) {
      this.client = client;
    }

    /** Sets the prefix of all queue names in SQS. The default is no prefix. */
    public Builder prefix(String text) {
      prefix = text;
      return this;
    }

    /** Sets where session state is stored. By default sessions have no state. */
    public Builder states(SessionStateStore store) {
      states = Optional.of(store);
      return this;
    }

    /** Sets the clock of this process. The default is the machine's. */
    public Builder time(TimeSource source) {
      time = source;
      return this;
    }

    public SqsQueueProvider build() {
      return new SqsQueueProvider(this);
    }
  }
}
