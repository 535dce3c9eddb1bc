package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.BuildMessage;
import dev.sessionkeeper.github.EventId;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.MessageFormat;
import dev.sessionkeeper.server.gateway.AcceptDelivery.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * Stores a batch of deliveries on one connection: the locks of their sessions with their rows in
 * one statement, then their messages.
 */
final class StoreDeliveries {
  // The smallest payload that is stored once and shared. Copying a smaller one costs less than
  // looking it up.
  private static final int WORTH_SHARING = 1024;

  private final Outbox outbox;

  /** Reports that an event was deleted for its age between two statements. */
  static final class Forgotten extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  StoreDeliveries(Outbox outbox) {
    this.outbox = outbox;
  }

  /**
   * Stores deliveries; the answers are in the same order.
   *
   * @param patience the longest wait for a lock of another transaction
   */
  List<Outcome> store(Connection connection, List<WaitingDelivery> group, Duration patience)
      throws SQLException {
    var first = new LinkedHashMap<EventId, WaitingDelivery>();
    group.forEach(delivery -> first.putIfAbsent(delivery.id(), delivery));
    var rows = first.values().stream().map(this::row).toList();
    var inserted =
        new InsertDeliveries(connection, patience)
            .insert(
                group.stream()
                    .flatMap(one -> sessionsToLock(one.added().event(), one.bots()).stream())
                    .toList(),
                rows);
    send(connection, rows, inserted, first);
    var outcomes = new HashMap<EventId, Outcome>();
    for (var row : rows) {
      var id = row.added().event().id();
      if (inserted.containsKey(id)) {
        outcomes.put(id, new Outcome.Accepted(id, row.routes()));
        first.remove(id);
      }
    }
    outcomes.putAll(known(connection, first.values()));
    return answers(group, outcomes);
  }

  private InsertDeliveries.Row row(WaitingDelivery delivery) {
    var event = delivery.added().event();
    var routes = delivery.bots().stream().map(bot -> RoutedMessage.first(event, bot)).toList();
    return new InsertDeliveries.Row(
        delivery.added(),
        isShared(delivery) ? delivery.added().raw().body() : null,
        routes,
        announcement(delivery.added(), routes));
  }

  /** Sends the messages of the events that were inserted. */
  private void send(
      Connection connection,
      List<InsertDeliveries.Row> rows,
      Map<EventId, InsertDeliveries.Inserted> inserted,
      Map<EventId, WaitingDelivery> deliveries)
      throws SQLException {
    var messages = new LinkedHashMap<QueueName, List<Message>>();
    var bodies = new HashMap<MessageId, UUID>();
    for (var row : rows) {
      var added = row.added();
      var id = added.event().id();
      var stored = inserted.get(id);
      if (stored == null) {
        continue;
      }
      var build =
          new BuildMessage(added.trace().traceId(), stored.receivedAt(), outbox.maxBodyBytes());
      for (var bot : Objects.requireNonNull(deliveries.get(id)).bots()) {
        var message =
            HookHeaders.asProperties(
                traced(build.build(added.event(), bot), added.trace()),
                added.headers(),
                added.raw().body());
        messages.computeIfAbsent(bot.queue(), queue -> new ArrayList<>()).add(message);
        if (row.shared() != null && isWhole(message, added.event())) {
          bodies.put(message.id(), id.value());
        }
      }
    }
    outbox.send(connection, messages, bodies);
  }

  /** Returns whether the event and its messages share one stored payload. */
  private boolean isShared(WaitingDelivery delivery) {
    var body = delivery.added().raw().body();
    var payload = delivery.added().event().payload();
    return body.length >= WORTH_SHARING
        && body.length <= outbox.maxBodyBytes()
        && delivery.bots().stream().anyMatch(bot -> bot.format() == MessageFormat.RAW)
        && Arrays.equals(payload.unsafeBytes(), body);
  }

  /**
   * Returns whether the message's body is the payload as it came: neither an envelope nor a
   * reference.
   */
  private static boolean isWhole(Message message, GitHubEvent event) {
    return Arrays.equals(message.payload().unsafeBytes(), event.payload().unsafeBytes());
  }

  private static Map<EventId, Outcome> known(
      Connection connection, Collection<WaitingDelivery> deliveries) throws SQLException {
    if (deliveries.isEmpty()) {
      return Map.of();
    }
    var rows =
        EventTable.find(connection, deliveries.stream().map(WaitingDelivery::added).toList());
    var routes = RoutedTable.find(connection, rows.seqs());
    var outcomes = new HashMap<EventId, Outcome>();
    for (var delivery : deliveries) {
      var row = rows.of(delivery.added()).orElseThrow(Forgotten::new);
      var its =
          routes.getOrDefault(row.seq(), List.of()).stream()
              .filter(route -> route.replay().isEmpty())
              .toList();
      outcomes.put(delivery.id(), outcomeOf(delivery, row, its));
    }
    return outcomes;
  }

  private static Outcome outcomeOf(
      WaitingDelivery delivery, EventTable.Known row, List<RoutedMessage> routes) {
    if (!row.id().equals(delivery.id())) {
      return new Outcome.SameBody(row.id(), routes);
    }
    // Detects this transaction's own row, from an attempt whose COMMIT was not answered.
    return row.traceparent().equals(delivery.added().trace().toString())
        ? new Outcome.Accepted(delivery.id(), routes)
        : new Outcome.Duplicate(delivery.id(), routes);
  }

  /** If a delivery came twice in one batch, the second one is a duplicate. */
  private static List<Outcome> answers(
      List<WaitingDelivery> group, Map<EventId, Outcome> outcomes) {
    var answers = new ArrayList<Outcome>(group.size());
    for (var delivery : group) {
      var outcome = Objects.requireNonNull(outcomes.get(delivery.id()));
      answers.add(outcome);
      if (outcome instanceof Outcome.Accepted) {
        outcomes.put(delivery.id(), new Outcome.Duplicate(outcome.id(), outcome.routes()));
      }
    }
    return answers;
  }

  /** Returns the event for subscribers of the stream, without the payload. */
  private static String announcement(NewDelivery added, List<RoutedMessage> routes) {
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

  static Message traced(Message message, TraceContext trace) {
    return message.withProperty(TraceContext.NAME, trace.toString());
  }

  /** Returns the sessions to lock: every ordered session that the event is routed to. */
  static List<String> sessionsToLock(GitHubEvent event, List<Bot> bots) {
    return bots.stream()
        .flatMap(
            bot ->
                bot.ordering().sessionOf(event).stream().map(s -> lockName(bot.queue(), s.value())))
        .toList();
  }

  private static String lockName(QueueName queue, String session) {
    return queue.value() + "/" + session;
  }
}
