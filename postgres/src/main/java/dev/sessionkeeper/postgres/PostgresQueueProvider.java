package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.ReaderBuckets;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.postgres.operate.ActOnSession;
import dev.sessionkeeper.postgres.operate.DeadLetterTable;
import dev.sessionkeeper.postgres.operate.Housekeeping;
import dev.sessionkeeper.postgres.operate.InspectQueue;
import dev.sessionkeeper.postgres.operate.RemoveQueue;
import dev.sessionkeeper.postgres.prefetch.PrefetchBudget;
import dev.sessionkeeper.postgres.queue.KnownQueue;
import dev.sessionkeeper.postgres.queue.Node;
import dev.sessionkeeper.postgres.queue.Notifications;
import dev.sessionkeeper.postgres.queue.ProviderContext;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.queue.QueueTable;
import dev.sessionkeeper.postgres.read.ReadingOptions;
import dev.sessionkeeper.postgres.send.SendMessages;
import dev.sessionkeeper.postgres.unordered.UnorderedQueue;
import dev.sessionkeeper.processor.BatchHandler;
import dev.sessionkeeper.processor.MessageHandler;
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
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queues in PostgreSQL: durable, ordered, for any number of processes.
 *
 * <p>Only the database and its clock decide; processes keep nothing that they cannot lose.
 * Producers append messages and touch no other table. A process that takes many sessions reads its
 * buckets of the queue into memory; other sessions have a row while they have work. Sends, claims,
 * settlements and renewals of one process leave in batches, each as one statement and one commit.
 */
public final class PostgresQueueProvider
    implements QueueProvider,
        InspectableQueues,
        OperableSessions,
        DeadLetterQueues,
        RemovableQueues {
  private static final Logger log = LoggerFactory.getLogger(PostgresQueueProvider.class);
  private static final Capabilities CAPABILITIES =
      new Capabilities("postgres", Limits.DEFAULT, true, true, true, Map.of());

  private static final Alongside NOTHING = (connection, affected) -> {};

  private final Optional<Notices> ownNotices;
  private final ProviderContext setup;
  private final PostgresOptions options;
  private final PrefetchBudget memory;
  private final QueueTable table;
  private final Housekeeping keep;
  private final ConcurrentHashMap<Integer, OpenQueue> queues = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Integer, SendMessages> senders = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Integer, ReaderBuckets> parts = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private PostgresQueueProvider(
      Connections connections, PostgresOptions options, TimeSource time, Optional<Notices> shared) {
    var node = Node.unique();
    ownNotices =
        shared.isPresent()
            ? Optional.empty()
            : Optional.of(Notices.over(connections.source(), connections.unpooled()));
    var notices = shared.or(() -> ownNotices).orElseThrow();
    var notifications = new Notifications(notices, node, new Listening());
    this.setup = new ProviderContext(connections, node, time, notifications, log);
    this.options = options;
    this.memory = new PrefetchBudget(options.bodyMemory());
    this.table = new QueueTable(connections, this::drop);
    this.keep = new Housekeeping(setup, options.keepHouse());
  }

  /**
   * Creates a provider, and creates or updates its tables. The provider uses a HikariCP pool as it
   * is; over any other source it keeps a small pool of its own.
   */
  public static PostgresQueueProvider create(DataSource source) {
    return create(source, PostgresOptions.ofDefaults());
  }

  /** As {@link #create(DataSource)}, with options. */
  public static PostgresQueueProvider create(DataSource source, PostgresOptions options) {
    return create(source, options, TimeSource.system());
  }

  /**
   * As {@link #create(DataSource)}, with a clock for waits and timers; leases always use the
   * database's clock.
   */
  public static PostgresQueueProvider create(
      DataSource source, PostgresOptions options, TimeSource time) {
    if (options.migrate()) {
      Migrations.apply(source, "queues");
    }
    return new PostgresQueueProvider(
        Connections.over(source, options.maxConnections()), options, time, Optional.empty());
  }

  /**
   * Returns queues in a process that has a listening connection already, which this provider does
   * not close.
   */
  public static PostgresQueueProvider create(
      DataSource source, PostgresOptions options, TimeSource time, Notices shared) {
    if (options.migrate()) {
      Migrations.apply(source, "queues");
    }
    return new PostgresQueueProvider(
        Connections.over(source, options.maxConnections()), options, time, Optional.of(shared));
  }

  @Override
  public Capabilities capabilities() {
    return CAPABILITIES;
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    return declare(queue, settings, NOTHING);
  }

  /**
   * Declares a queue as {@link #declare(QueueName, QueueSettings)} does, and writes more rows in
   * the same transaction; their number is 1 if the queue was created.
   */
  public boolean declare(QueueName queue, QueueSettings settings, Alongside alongside) {
    requireOpen();
    return table.declare(queue, settings, alongside::write);
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    requireOpen();
    return table.settings(queue);
  }

  @Override
  public List<QueueName> queues() {
    requireOpen();
    return table.names();
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    var known = find(queue);
    Limits.DEFAULT.check(queue, known.mode(), messages);
    try {
      return sender(known).send(messages);
    } catch (KeeperException.Rejected e) {
      // Nothing can be stored in a queue that another process has deleted.
      if (table.current(queue).equals(known)) {
        throw e;
      }
      return send(queue, messages);
    }
  }

  /**
   * Stores messages on a connection of the application: they are stored if and only if its
   * transaction commits, and other senders do not wait for it. This is an outbox without a relay.
   * Consumers are not woken and find the messages within a second; call {@link #wake} after the
   * commit to wake them. Above {@code READ COMMITTED}, an id that begins with its time is refused
   * unless the library created it for this send.
   *
   * @return one outcome per message; a {@link SendOutcome.Stored} holds if the transaction commits
   */
  public List<SendOutcome> send(Connection connection, QueueName queue, List<Message> messages)
      throws SQLException {
    return send(connection, queue, messages, Map.of());
  }

  /**
   * Stores messages as {@link #send(Connection, QueueName, List)} does, for messages with shared
   * payloads.
   *
   * @param bodies the messages whose payloads {@link SharedBodies} has stored, with the ids of the
   *     payloads
   */
  public List<SendOutcome> send(
      Connection connection, QueueName queue, List<Message> messages, Map<MessageId, UUID> bodies)
      throws SQLException {
    var known = find(queue);
    Limits.DEFAULT.check(queue, known.mode(), messages);
    return sender(known).sendWithin(connection, messages, bodies);
  }

  /**
   * Does one step of housekeeping, for applications that schedule it themselves: forgets ids after
   * the duplicate window, and dead-letters expired messages of queues without consumers. Does
   * nothing while another process does it.
   *
   * @return whether more can be done at once
   */
  public boolean keepHouse() {
    requireOpen();
    return keep.some();
  }

  /** Wakes consumers of the queue, here and in other processes. */
  public void wake(QueueName queue) {
    announce(find(queue));
  }

  /**
   * Returns a handler whose effects in this database and the settlement of its message are one
   * transaction: both happen, once, or neither. For a processor on this provider and this queue.
   */
  public MessageHandler transactional(QueueName queue, TransactionalHandler handler) {
    return inTransactions(ordered(queue)).handler(handler);
  }

  /**
   * As {@link #transactional(QueueName, TransactionalHandler)}, in transactions that the
   * application opens on the same database.
   */
  public MessageHandler transactional(
      QueueName queue, TransactionalHandler handler, HandlerTransactions transactions) {
    return inTransactions(ordered(queue), transactions).handler(handler);
  }

  /**
   * As {@link #transactional(QueueName, TransactionalHandler)}, for {@link
   * dev.sessionkeeper.processor.SessionProcessor#batches}: the effects of the handler and the
   * completion of its messages are one transaction.
   */
  public BatchHandler transactionalBatches(QueueName queue, TransactionalBatchHandler handler) {
    return inTransactions(ordered(queue)).batchHandler(handler);
  }

  /**
   * As {@link #transactionalBatches(QueueName, TransactionalBatchHandler)}, in transactions that
   * the application opens on the same database.
   */
  public BatchHandler transactionalBatches(
      QueueName queue, TransactionalBatchHandler handler, HandlerTransactions transactions) {
    return inTransactions(ordered(queue), transactions).batchHandler(handler);
  }

  @Override
  public ResumableSessions sessions(QueueName queue) {
    return ordered(queue);
  }

  @Override
  public MessageSource messages(QueueName queue) {
    return switch (local(find(queue))) {
      case OpenQueue.Unordered(var unordered) -> unordered;
      case OpenQueue.Ordered ordered ->
          throw new KeeperException.SessionModeMismatch(
              queue, QueueMode.ORDERED, "messages outside of sessions");
    };
  }

  @Override
  public QueueStats stats(QueueName queue) {
    var known = find(queue);
    var local = local(known);
    local.queue().applyDue();
    var stats = new InspectQueue(context(known));
    return switch (local) {
      case OpenQueue.Ordered(var ordered) ->
          stats.ofSessions(ordered.reader().ready(), ordered.reader().held());
      case OpenQueue.Unordered unordered -> stats.ofMessages();
    };
  }

  @Override
  public Page<SessionView> inspect(
      QueueName queue, Optional<SessionStatus> status, Page.Request page) {
    var ordered = ordered(queue);
    ordered.applyDue();
    return new InspectQueue(ordered.context()).page(status, page, ordered.reader().holds());
  }

  @Override
  public int act(QueueName queue, SessionId session, Act act, String reason) {
    return act(queue, session, act, reason, NOTHING);
  }

  /**
   * Acts as {@link #act(QueueName, SessionId, Act, String)} does, and writes more rows in the same
   * transaction.
   */
  public int act(QueueName queue, SessionId session, Act act, String reason, Alongside alongside) {
    var ordered = ordered(queue);
    ordered.applyDue();
    int changed =
        new ActOnSession(ordered.context(), ordered.asks())
            .act(session, act, reason, alongside::write);
    ordered.owned().doubt(session);
    announce(find(queue));
    return changed;
  }

  @Override
  public Page<DeadLetter> deadLetters(
      QueueName queue, Optional<SessionId> session, Page.Request page) {
    var known = find(queue);
    local(known).queue().applyDue();
    return new DeadLetterTable(context(known)).page(session, page);
  }

  @Override
  public Optional<DeadLetter> deadLetter(QueueName queue, String id) {
    return new DeadLetterTable(context(find(queue))).find(id);
  }

  @Override
  public int countReplayable(QueueName queue, Selection selection) {
    return new DeadLetterTable(context(find(queue))).count(selection);
  }

  @Override
  public int replay(QueueName queue, Selection selection) {
    return replay(queue, selection, NOTHING);
  }

  /**
   * Replays as {@link #replay(QueueName, Selection)} does, and writes more rows in the same
   * transaction. A large selection is replayed in several transactions, and rows are written in
   * each.
   */
  public int replay(QueueName queue, Selection selection, Alongside alongside) {
    var known = find(queue);
    var local = local(known);
    int replayed = new DeadLetterTable(context(known)).replay(selection, alongside::write);
    announce(known);
    if (local instanceof OpenQueue.Ordered(var ordered)) {
      // When the readers have answered, they have put the replayed messages before newer ones
      // (D-02).
      ordered.asks().awaitAnswers();
      ordered.awaitPoll();
    }
    return replayed;
  }

  @Override
  public boolean discard(QueueName queue, String id) {
    return discard(queue, id, NOTHING);
  }

  /**
   * Discards as {@link #discard(QueueName, String)} does, and writes more rows in the same
   * transaction if there is such a dead letter.
   */
  public boolean discard(QueueName queue, String id, Alongside alongside) {
    return new DeadLetterTable(context(find(queue))).discard(id, alongside::write);
  }

  @Override
  public long purge(QueueName queue, Part part) {
    return purge(queue, part, NOTHING);
  }

  /**
   * Purges as {@link #purge(QueueName, Part)} does, and writes more rows in the same transaction.
   */
  public long purge(QueueName queue, Part part, Alongside alongside) {
    requireOpen();
    var known = table.current(queue);
    var remove = new RemoveQueue(setup);
    return switch (part) {
      case MESSAGES -> remove.purge(known, local(known).queue(), alongside::write);
      case DEAD_LETTERS -> remove.purgeDeadLetters(known, alongside::write);
    };
  }

  @Override
  public boolean delete(QueueName queue) {
    return delete(queue, NOTHING);
  }

  /**
   * Deletes as {@link #delete(QueueName)} does, and writes more rows in the same transaction if
   * there is such a queue.
   */
  public boolean delete(QueueName queue, Alongside alongside) {
    requireOpen();
    if (table.settings(queue).isEmpty()) {
      return false;
    }
    var known = table.known(queue);
    // This process persists the sessions it has in memory. Another process finds its lease gone.
    drop(known);
    boolean isGone = new RemoveQueue(setup).delete(known, alongside::write);
    table.forget(known.id());
    setup.notifications().deleted(known.id());
    return isGone;
  }

  /** Closes the queue in this process. */
  private void drop(KnownQueue deleted) {
    senders.remove(deleted.id());
    parts.remove(deleted.id());
    var local = queues.remove(deleted.id());
    if (local != null) {
      local.queue().close();
    }
  }

  /** Returns the bytes of prefetched payloads that wait for a handler. */
  public long bodiesInMemory() {
    return memory.used();
  }

  /** Returns how many of a queue's 64 buckets this process reads now; see ADR 15. */
  public int ownedBuckets(QueueName queue) {
    return queues.get(find(queue).id()) instanceof OpenQueue.Ordered(var ordered)
        ? ordered.reader().ownedBuckets()
        : 0;
  }

  private OrderedQueue ordered(QueueName queue) {
    return switch (local(find(queue))) {
      case OpenQueue.Ordered(var ordered) -> ordered;
      case OpenQueue.Unordered unordered ->
          throw new KeeperException.SessionModeMismatch(queue, QueueMode.UNORDERED, "sessions");
    };
  }

  private QueueContext context(KnownQueue known) {
    return new QueueContext(known, setup);
  }

  private RunInTransaction inTransactions(OrderedQueue queue) {
    return new RunInTransaction(queue.context(), queue.owned());
  }

  private RunInTransaction inTransactions(OrderedQueue queue, HandlerTransactions transactions) {
    return new RunInTransaction(queue.context(), queue.owned(), transactions);
  }

  private OpenQueue local(KnownQueue known) {
    keep.house();
    return queues.computeIfAbsent(
        known.id(),
        id ->
            switch (known.mode()) {
              case ORDERED -> new OpenQueue.Ordered(open(known));
              case UNORDERED -> new OpenQueue.Unordered(new UnorderedQueue(context(known)));
            });
  }

  private OrderedQueue open(KnownQueue known) {
    return new OrderedQueue(
        context(known),
        memory,
        options.prefetch(),
        new ReadingOptions(options.reading().carryFrom(), options.reading().page()),
        parts(known));
  }

  private SendMessages sender(KnownQueue known) {
    return senders.computeIfAbsent(
        known.id(),
        id ->
            new SendMessages(
                context(known),
                parts(known),
                areSendersHeldUp -> local(known).queue().sent(areSendersHeldUp)));
  }

  private ReaderBuckets parts(KnownQueue known) {
    return parts.computeIfAbsent(
        known.id(), id -> new ReaderBuckets(id, setup.connections(), setup.time()));
  }

  private void announce(KnownQueue known) {
    local(known).queue().wake();
    setup.notifications().sent(known.id());
  }

  private KnownQueue find(QueueName queue) {
    requireOpen();
    return table.known(queue);
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.Closed("The PostgreSQL provider");
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    keep.close();
    queues.values().forEach(open -> open.queue().close());
    setup.notifications().close();
    ownNotices.ifPresent(Notices::close);
    setup.connections().close();
  }

  /** Handles notifications of other processes. */
  private final class Listening implements Notifications.Heard {
    @Override
    public void wake(int queue) {
      var local = queues.get(queue);
      if (local != null) {
        local.queue().wake();
      }
    }

    @Override
    public void news(int queue, SessionId session) {
      var local = queues.get(queue);
      if (local != null) {
        local.queue().tellNews(session);
      }
    }

    @Override
    public void deleted(int queue) {
      Thread.ofVirtual().name("keeper-deleted").start(() -> table.forget(queue));
    }

    @Override
    public void asked(int queue) {
      if (queues.get(queue) instanceof OpenQueue.Ordered(var ordered)) {
        ordered.asked();
      }
    }

    @Override
    public void everything() {
      queues.values().forEach(open -> open.queue().wake());
      Thread.ofVirtual().name("keeper-look-again").start(this::lookAgain);
    }

    private void lookAgain() {
      try {
        table.lookAgain();
      } catch (KeeperException e) {
        log.debug("The queues could not be looked at again: {}", e.getMessage());
      }
    }
  }
}
