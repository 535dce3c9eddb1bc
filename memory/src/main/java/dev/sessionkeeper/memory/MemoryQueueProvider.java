package dev.sessionkeeper.memory;

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
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.spi.RemovableQueues;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.time.TimeSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Queues in the memory of this process: the reference for every rule of the contract, and a
 * stand-in for the durable providers in tests.
 *
 * <p>The given clock drives everything: on a settable clock a lease ends, a retry is due and a wait
 * is over exactly when the clock is moved there. Leases, retries and expiry use monotonic time, so
 * a jump of the wall clock changes nothing (S-11).
 *
 * <p>A session without messages, owner and state needs no memory. State stays until it is replaced
 * by an empty one; then the session is forgotten, and its next state begins at version 1 again.
 * Messages of a parked or paused session do not expire before it is resumed. An unordered queue has
 * no session to park, so a message that is to be parked becomes a dead letter.
 */
public final class MemoryQueueProvider
    implements QueueProvider,
        InspectableQueues,
        OperableSessions,
        DeadLetterQueues,
        RemovableQueues {
  private static final Capabilities CAPABILITIES =
      new Capabilities("memory", Limits.DEFAULT, false, true, true, Map.of());

  private final ConcurrentHashMap<QueueName, MemoryQueue> queues = new ConcurrentHashMap<>();
  private final Ticks ticks;
  private final long maxMessages;
  private volatile boolean closed;

  private MemoryQueueProvider(TimeSource time, long maxMessages) {
    this.ticks = new Ticks(time);
    this.maxMessages = maxMessages;
  }

  /** Creates queues with the clock of this machine, bounded by its memory only. */
  public static MemoryQueueProvider create() {
    return create(TimeSource.system());
  }

  /** Creates queues with another clock. */
  public static MemoryQueueProvider create(TimeSource time) {
    return new MemoryQueueProvider(time, Long.MAX_VALUE);
  }

  /**
   * Creates queues that hold a bounded number of messages each, including dead letters. A send that
   * does not fit fails with {@link KeeperException.Overloaded} and stores nothing.
   */
  public static MemoryQueueProvider createBounded(TimeSource time, int maxMessages) {
    if (maxMessages < 1) {
      throw new IllegalArgumentException("maxMessages must be at least 1, was " + maxMessages);
    }
    return new MemoryQueueProvider(time, maxMessages);
  }

  @Override
  public Capabilities capabilities() {
    return CAPABILITIES;
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    requireOpen();
    var fresh = newQueue(new QueueBooks(queue, settings, ticks, maxMessages));
    var existing = queues.putIfAbsent(queue, fresh);
    if (existing != null) {
      existing.books().change(settings);
    }
    return existing == null;
  }

  private static MemoryQueue newQueue(QueueBooks books) {
    return books.settings().mode() == QueueMode.ORDERED
        ? new OrderedQueue(books)
        : new UnorderedQueue(books);
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    return Optional.ofNullable(queues.get(queue)).map(known -> known.books().settings());
  }

  @Override
  public List<QueueName> queues() {
    return queues.keySet().stream().sorted().toList();
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    return find(queue).send(messages);
  }

  @Override
  public ResumableSessions sessions(QueueName queue) {
    return ordered(queue);
  }

  @Override
  public MessageSource messages(QueueName queue) {
    return switch (find(queue)) {
      case UnorderedQueue unordered -> unordered;
      case OrderedQueue ordered ->
          throw new KeeperException.SessionModeMismatch(
              queue, QueueMode.ORDERED, "messages outside of sessions");
    };
  }

  @Override
  public QueueStats stats(QueueName queue) {
    return find(queue).stats();
  }

  @Override
  public Page<SessionView> inspect(
      QueueName queue, Optional<SessionStatus> status, Page.Request page) {
    return new InspectSessions(ordered(queue)).page(status, page);
  }

  @Override
  public int act(QueueName queue, SessionId session, Act act, String reason) {
    return new ActOnSession(ordered(queue)).act(session, act, reason);
  }

  @Override
  public Page<DeadLetter> deadLetters(
      QueueName queue, Optional<SessionId> session, Page.Request page) {
    var found = find(queue);
    found.runDue();
    return found.books().shelf.page(session, page);
  }

  @Override
  public Optional<DeadLetter> deadLetter(QueueName queue, String id) {
    return find(queue).books().shelf.find(id);
  }

  @Override
  public int countReplayable(QueueName queue, Selection selection) {
    return find(queue).books().shelf.select(selection).size();
  }

  @Override
  public int replay(QueueName queue, Selection selection) {
    return find(queue).replay(selection);
  }

  @Override
  public boolean discard(QueueName queue, String id) {
    return find(queue).books().shelf.remove(id);
  }

  @Override
  public long purge(QueueName queue, Part part) {
    var found = find(queue);
    return switch (part) {
      case MESSAGES -> found.purge();
      case DEAD_LETTERS -> found.books().shelf.clear();
    };
  }

  @Override
  public boolean delete(QueueName queue) {
    requireOpen();
    var removed = queues.remove(queue);
    if (removed != null) {
      removed.books().delete();
      removed.purge();
      removed.close();
    }
    return removed != null;
  }

  private OrderedQueue ordered(QueueName queue) {
    return switch (find(queue)) {
      case OrderedQueue ordered -> ordered;
      case UnorderedQueue unordered ->
          throw new KeeperException.SessionModeMismatch(queue, QueueMode.UNORDERED, "sessions");
    };
  }

  private MemoryQueue find(QueueName queue) {
    requireOpen();
    var known = queues.get(queue);
    if (known == null) {
      throw new KeeperException.UnknownQueue(queue);
    }
    return known;
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.Closed("The memory provider");
    }
  }

  @Override
  public void close() {
    closed = true;
    queues.values().forEach(MemoryQueue::close);
  }
}
