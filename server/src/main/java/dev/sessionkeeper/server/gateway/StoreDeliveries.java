package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.BuildMessage;
import dev.sessionkeeper.github.EventId;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.MessageFormat;
import dev.sessionkeeper.postgres.SharedBodies;
import dev.sessionkeeper.server.gateway.AcceptDelivery.Outcome;
import dev.sessionkeeper.store.EventLog;
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
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Stores a group of deliveries on one connection: the locks of their sessions, their rows, and
 * their messages, each kind by one statement for all of them.
 */
final class StoreDeliveries {
  // A smaller one costs less as a copy in each message than to be looked up.
  private static final int WORTH_SHARING = 1024;

  private final Outbox outbox;

  /** An event was there when it was to be stored and gone a moment later, for its age. */
  static final class Forgotten extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  StoreDeliveries(Outbox outbox) {
    this.outbox = outbox;
  }

  /**
   * Stores them; the answers are in the order of the deliveries.
   *
   * @param patience the longest wait for a lock that another transaction has
   */
  List<Outcome> store(Connection connection, List<WaitingDelivery> group, Duration patience)
      throws SQLException {
    EventTable.lock(
        connection,
        group.stream().flatMap(one -> lanes(one.added().event(), one.bots()).stream()).toList(),
        patience);
    var first = new LinkedHashMap<EventId, WaitingDelivery>();
    group.forEach(delivery -> first.putIfAbsent(delivery.id(), delivery));
    var shared = sharedBodies(first.values());
    var inserted =
        EventTable.insert(
            connection,
            first.values().stream().map(WaitingDelivery::added).toList(),
            shared.keySet());
    shared.keySet().retainAll(inserted.keySet());
    SharedBodies.keep(connection, byUuid(shared));
    var fresh = first.values().stream().filter(one -> inserted.containsKey(one.id())).toList();
    var outcomes =
        new HashMap<EventId, Outcome>(route(connection, fresh, inserted, shared.keySet()));
    first.values().removeAll(fresh);
    outcomes.putAll(known(connection, first.values()));
    return answers(group, outcomes);
  }

  private Map<EventId, Outcome> route(
      Connection connection,
      List<WaitingDelivery> fresh,
      Map<EventId, EventTable.Inserted> rows,
      Set<EventId> shared)
      throws SQLException {
    var messages = new LinkedHashMap<QueueName, List<Message>>();
    var bodies = new HashMap<MessageId, UUID>();
    var routed = new ArrayList<RoutedTable.Row>();
    var announced = new ArrayList<EventLog.Entry>();
    var outcomes = new HashMap<EventId, Outcome>();
    for (var delivery : fresh) {
      var added = delivery.added();
      var row = Objects.requireNonNull(rows.get(delivery.id()));
      var build =
          new BuildMessage(added.trace().traceId(), row.receivedAt(), outbox.maxBodyBytes());
      var routes = new ArrayList<RoutedMessage>();
      for (var bot : delivery.bots()) {
        var message =
            HookHeaders.asProperties(
                traced(build.build(added.event(), bot), added.trace()),
                added.headers(),
                added.raw().body());
        messages.computeIfAbsent(bot.queue(), queue -> new ArrayList<>()).add(message);
        if (shared.contains(delivery.id()) && isWhole(message, added.event())) {
          bodies.put(message.id(), delivery.id().value());
        }
        routes.add(RoutedMessage.of(bot, message, Optional.empty()));
      }
      routes.forEach(route -> routed.add(new RoutedTable.Row(row.seq(), route)));
      announced.add(new EventLog.Entry(added.event().type(), announcement(added, routes)));
      outcomes.put(delivery.id(), new Outcome.Accepted(delivery.id(), routes));
    }
    outbox.send(connection, messages, bodies);
    RoutedTable.insert(connection, routed);
    EventLog.appendLater(connection, EventLog.GITHUB, announced);
    return outcomes;
  }

  /** The payloads that the inbox and the messages keep as one. */
  private Map<EventId, byte[]> sharedBodies(Collection<WaitingDelivery> deliveries) {
    var shared = new LinkedHashMap<EventId, byte[]>();
    for (var delivery : deliveries) {
      var body = delivery.added().raw().body();
      var payload = delivery.added().event().payload();
      boolean isAsSent = Arrays.equals(payload.unsafeBytes(), body);
      boolean isWanted =
          delivery.bots().stream().anyMatch(bot -> bot.format() == MessageFormat.RAW);
      if (isAsSent
          && isWanted
          && body.length >= WORTH_SHARING
          && body.length <= outbox.maxBodyBytes()) {
        shared.put(delivery.id(), body);
      }
    }
    return shared;
  }

  private static Map<UUID, byte[]> byUuid(Map<EventId, byte[]> bodies) {
    var byUuid = new LinkedHashMap<UUID, byte[]>();
    bodies.forEach((id, body) -> byUuid.put(id.value(), body));
    return byUuid;
  }

  /** Whether the message's body is the payload as it came: neither an envelope nor a reference. */
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
    // Our own row, from an attempt whose COMMIT was not answered?
    return row.traceparent().equals(delivery.added().trace().toString())
        ? new Outcome.Accepted(delivery.id(), routes)
        : new Outcome.Duplicate(delivery.id(), routes);
  }

  /** A delivery that came twice in one group is a duplicate the second time. */
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
