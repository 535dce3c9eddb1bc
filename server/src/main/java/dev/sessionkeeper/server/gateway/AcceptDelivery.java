package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.Retry;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.EventId;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.SqlErrors;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores a webhook delivery once, and one message for every matching bot, in one transaction: after
 * a crash at any moment all of it is stored, or nothing.
 *
 * <p>Concurrent deliveries share a transaction, and each gets its own answer. If one of them fails,
 * the group is stored again one by one, so that no other fails with it.
 */
final class AcceptDelivery {
  private static final Logger log = LoggerFactory.getLogger(AcceptDelivery.class);
  private static final int MOST_TRIES = 4;

  /** How long a batch waits for the lock of a session. All deliveries of the batch wait as long. */
  private static final Duration AMONG_OTHERS = Duration.ofMillis(300);

  /**
   * How long a delivery in a transaction of its own waits for the lock: longer than the database
   * lets a transaction stay idle.
   */
  static final Duration ALONE = Duration.ofSeconds(5);

  /** The most deliveries that wait alone, each with a connection. */
  private static final int MOST_ALONE = 2;

  private final Database database;
  private final StoreDeliveries store;
  private final Outbox outbox;
  private final GatherDeliveries line;
  private final Semaphore alone = new Semaphore(MOST_ALONE, true);

  /**
   * Creates the intake.
   *
   * @param groups the most concurrent batches, each with a transaction; transactions of a busy
   *     session wait for each other and must not take all connections from the queues
   */
  AcceptDelivery(Database database, Outbox outbox, int groups) {
    this.database = database;
    this.store = new StoreDeliveries(outbox);
    this.outbox = outbox;
    this.line = new GatherDeliveries(groups, this::acceptAll);
  }

  /** The result of storing a webhook delivery. */
  sealed interface Outcome {
    EventId id();

    /** Returns the messages made of the delivery, now or at its first arrival. */
    List<RoutedMessage> routes();

    record Accepted(EventId id, List<RoutedMessage> routes) implements Outcome {}

    /** An event with this delivery id is stored already. */
    record Duplicate(EventId id, List<RoutedMessage> routes) implements Outcome {}

    /**
     * The same signed body came before under another delivery id. That is a replay attack or a
     * copy, because GitHub signs only the body and redelivers under the same id.
     *
     * @param id of the event that has the body
     */
    record SameBody(EventId id, List<RoutedMessage> routes) implements Outcome {}
  }

  /**
   * Accepts a delivery.
   *
   * @param bots the matching bots
   */
  Outcome accept(NewDelivery added, List<Bot> bots) throws InterruptedException {
    var delivery = new WaitingDelivery(added, bots);
    line.add(delivery);
    try {
      return delivery.answer().get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e);
    }
  }

  /** Returns how many deliveries wait for a transaction. */
  int waiting() {
    return line.waiting();
  }

  private void acceptAll(List<WaitingDelivery> group) {
    accept(group, AMONG_OTHERS);
  }

  private void accept(List<WaitingDelivery> group, Duration patience) {
    try {
      var outcomes = store(group, patience);
      for (int i = 0; i < group.size(); i++) {
        group.get(i).answer().complete(outcomes.get(i));
      }
      wake(group);
    } catch (KeeperException.Unavailable e) {
      if (isHeldUp(e) && group.size() == 1 && patience.equals(AMONG_OTHERS)) {
        waitAlone(group);
      } else if (isHeldUp(e)) {
        // Another transaction holds the lock of one delivery's session; the others need not wait
        // for it.
        acceptOneByOne(group, e);
      } else {
        fail(group, e);
      }
    } catch (KeeperException.OutcomeUnknown e) {
      fail(group, e);
    } catch (RuntimeException e) {
      acceptOneByOne(group, e);
    } catch (Error e) {
      group.forEach(delivery -> delivery.answer().completeExceptionally(e));
      throw e;
    }
  }

  /**
   * Stores one delivery in a transaction of its own, beside the batches. A frozen server may keep
   * its session's lock until the database ends that server's transaction; deliveries of other
   * sessions pass meanwhile.
   */
  private void waitAlone(List<WaitingDelivery> one) {
    Thread.ofVirtual()
        .name("store-delivery-alone")
        .start(
            () -> {
              alone.acquireUninterruptibly();
              try {
                accept(one, ALONE);
              } finally {
                alone.release();
              }
            });
  }

  private static boolean isHeldUp(KeeperException.Unavailable failure) {
    return failure.getCause() instanceof SQLException cause && SqlErrors.isLockTimeout(cause);
  }

  /** Fails this batch and all waiting deliveries, which would only wait for the same failure. */
  private void fail(List<WaitingDelivery> group, KeeperException failure) {
    group.forEach(delivery -> delivery.answer().completeExceptionally(failure));
    var untried = new KeeperException.Unavailable("The database", failure);
    line.clear().forEach(delivery -> delivery.answer().completeExceptionally(untried));
  }

  private void acceptOneByOne(List<WaitingDelivery> group, RuntimeException reason) {
    if (group.size() == 1) {
      group.getFirst().answer().completeExceptionally(reason);
    } else {
      group.forEach(delivery -> acceptAll(List.of(delivery)));
    }
  }

  private List<Outcome> store(List<WaitingDelivery> group, Duration patience) {
    // If a row was deleted meanwhile, another attempt stores it.
    return Retry.call(
        RetryPolicy.atOnce(MOST_TRIES),
        StoreDeliveries.Forgotten.class::isInstance,
        () ->
            // If the connection broke during COMMIT, the next attempt finds the rows or stores
            // them.
            Database.untilKnown(
                MOST_TRIES,
                () ->
                    database.inTransaction(
                        connection -> store.store(connection, group, patience))));
  }

  /** Best effort: consumers that miss the notification poll. */
  private void wake(List<WaitingDelivery> group) {
    var queues = new LinkedHashSet<QueueName>();
    group.forEach(delivery -> delivery.bots().forEach(bot -> queues.add(bot.queue())));
    try {
      outbox.committed(queues);
    } catch (KeeperException e) {
      log.debug("The consumers of {} were not woken: {}", queues, e.getMessage());
    }
  }
}
