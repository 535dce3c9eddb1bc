package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.BuildMessage;
import dev.sessionkeeper.github.EventId;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.EventLog;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Stores a delivery once and one message for every bot that wants it, in one transaction: after a
 * crash at any moment all of it is there, or nothing.
 */
final class AcceptDelivery {
  private static final int MOST_TRIES = 4;

  private final Database database;
  private final Outbox outbox;
  private final Semaphore connections;

  /**
   * Prepares.
   *
   * @param connections how many deliveries may be in a transaction at once; those of a busy session
   *     wait for each other and must not take all connections from the queues
   */
  AcceptDelivery(Database database, Outbox outbox, int connections) {
    this.database = database;
    this.outbox = outbox;
    this.connections = new Semaphore(connections, true);
  }

  /** What became of a delivery. */
  sealed interface Outcome {
    EventId id();

    /** The messages that were made of it, now or when it came first. */
    List<RoutedMessage> routes();

    record Accepted(EventId id, List<RoutedMessage> routes) implements Outcome {}

    record Duplicate(EventId id, List<RoutedMessage> routes) implements Outcome {}
  }

  /**
   * Accepts it.
   *
   * @param bots those that match
   */
  Outcome accept(NewEvent added, List<Bot> bots) throws InterruptedException {
    connections.acquire();
    Outcome outcome;
    try {
      outcome = storeOrFind(added, bots);
    } finally {
      connections.release();
    }
    if (outcome instanceof Outcome.Accepted) {
      outbox.committed(bots.stream().map(Bot::queue).toList());
    }
    return outcome;
  }

  private Outcome storeOrFind(NewEvent added, List<Bot> bots) {
    for (int attempt = 1; ; attempt++) {
      try {
        return database.inTransaction(connection -> store(connection, added, bots));
      } catch (KeeperException.OutcomeUnknown e) {
        // The connection broke during COMMIT. Trying again finds the row, or stores it.
        if (attempt == MOST_TRIES) {
          throw e;
        }
      }
    }
  }

  private Outcome store(Connection connection, NewEvent added, List<Bot> bots) throws SQLException {
    var event = added.event();
    EventTable.lock(connection, lanes(event, bots));
    var inserted = EventTable.insert(connection, added);
    if (inserted.isEmpty()) {
      return known(connection, added);
    }
    var build =
        new BuildMessage(
            added.trace().traceId(), inserted.get().receivedAt(), outbox.maxBodyBytes());
    var routes = new ArrayList<RoutedMessage>();
    for (var bot : bots) {
      var message = traced(build.build(event, bot), added.trace());
      outbox.send(connection, bot.queue(), List.of(message));
      routes.add(RoutedMessage.of(bot, message, Optional.empty()));
    }
    EventTable.addRoutes(connection, inserted.get().seq(), routes);
    EventLog.appendLater(connection, EventLog.GITHUB, event.type(), announcement(added, routes));
    return new Outcome.Accepted(event.id(), routes);
  }

  /** What subscribers of the stream learn; the payload is where it always is. */
  private static String announcement(NewEvent added, List<RoutedMessage> routes) {
    var event = added.event();
    var told = new LinkedHashMap<String, Object>();
    told.put("eventId", event.id().toString());
    told.put("deliveryId", event.deliveryId());
    told.put("type", event.type());
    event.action().ifPresent(action -> told.put("action", action));
    event.repository().ifPresent(repository -> told.put("repository", repository.fullName()));
    told.put("sessionId", added.session());
    told.put("routedTo", routes.stream().map(RoutedMessage::bot).toList());
    return EventTable.json(told);
  }

  private static Outcome known(Connection connection, NewEvent added) throws SQLException {
    var id = added.event().id();
    var known = EventTable.find(connection, id);
    if (known.isEmpty()) {
      // Stored when we looked and gone now: forgotten for its age. GitHub sends it again.
      throw new KeeperException.Unavailable("The event " + id, new IllegalStateException("gone"));
    }
    var routes =
        EventTable.routes(connection, known.get().seq()).stream()
            .filter(route -> route.replay().isEmpty())
            .toList();
    // Our own row, from an attempt whose COMMIT was not answered?
    return known.get().traceparent().equals(added.trace().toString())
        ? new Outcome.Accepted(id, routes)
        : new Outcome.Duplicate(id, routes);
  }

  static Message traced(Message message, TraceContext trace) {
    return message.withProperty(TraceContext.NAME, trace.toString());
  }

  /** What is locked: every ordered session the event goes to. */
  static List<String> lanes(GitHubEvent event, List<Bot> bots) {
    return bots.stream()
        .flatMap(
            bot -> bot.ordering().sessionOf(event).stream().map(s -> lane(bot.queue(), s.value())))
        .toList();
  }

  private static String lane(QueueName queue, String session) {
    return queue.value() + "/" + session;
  }
}
