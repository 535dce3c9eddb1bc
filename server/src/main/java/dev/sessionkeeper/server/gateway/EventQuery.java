package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.QueueFilter;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Field;
import dev.sessionkeeper.server.json.Fields;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Selects events; an empty field selects all.
 *
 * @param bot that the event was routed to
 * @param sessionId as a bot has it, or in entity scope
 * @param type {@code type} or {@code type.action}
 * @param from received then or later
 * @param to received before
 */
record EventQuery(
    Optional<UUID> eventId,
    Optional<String> bot,
    Optional<String> repository,
    Optional<String> sessionId,
    Optional<String> type,
    Optional<Instant> from,
    Optional<Instant> to) {
  /** The names of its fields in JSON and queries. */
  static final List<String> NAMES =
      List.of("eventId", "bot", "repository", "sessionId", "type", "from", "to");

  private static final int MAX_TEXT = 300;

  /** Reads the fields of a query; call the supplier after {@link Fields#check}. */
  static Supplier<EventQuery> ask(Fields in) {
    var eventId = in.optional("eventId", Decode.guid());
    var bot = text(in, "bot");
    var repository = text(in, "repository");
    var session = text(in, "sessionId");
    var type = text(in, "type");
    var from = in.optional("from", Decode.instant());
    var to = in.optional("to", Decode.instant());
    return () ->
        new EventQuery(
            eventId.get(),
            bot.get(),
            repository.get(),
            session.get(),
            type.get(),
            from.get(),
            to.get());
  }

  private static Field<Optional<String>> text(Fields in, String name) {
    return in.optional(name, Decode.text(MAX_TEXT));
  }

  /** Returns the query as conditions on {@code keeper.github_event e}. */
  Conditions conditions() {
    var conditions = new Conditions();
    eventId.ifPresent(id -> conditions.add("e.id = ?", id));
    bot.ifPresent(
        name ->
            conditions.add(
                "e.seq IN (SELECT r.event FROM keeper.github_route r WHERE r.bot = ?)", name));
    repository.ifPresent(name -> conditions.add("e.repository = ?", name));
    sessionId.ifPresent(
        id ->
            conditions.add(
                """
                e.seq IN (SELECT s.seq FROM keeper.github_event s WHERE s.session = ?
                          UNION ALL SELECT r.event FROM keeper.github_route r WHERE r.session = ?)
                """,
                id,
                id));
    type.ifPresent(name -> addType(conditions, name));
    from.ifPresent(time -> conditions.add("e.received_at >= ?", time.atOffset(ZoneOffset.UTC)));
    to.ifPresent(time -> conditions.add("e.received_at < ?", time.atOffset(ZoneOffset.UTC)));
    return conditions;
  }

  private static void addType(Conditions conditions, String name) {
    int dot = name.indexOf('.');
    if (dot < 0) {
      conditions.add("e.type = ?", name);
    } else {
      conditions.add(
          "e.type = ? AND e.action = ?", name.substring(0, dot), name.substring(dot + 1));
    }
  }

  /** Restricts a query to the caller's reach: an event belongs to the queues it was routed to. */
  static void narrow(Conditions conditions, QueueFilter visible) {
    switch (visible) {
      case QueueFilter.All all -> {}
      case QueueFilter.Only only ->
          conditions.add(
              "e.seq IN (SELECT r.event FROM keeper.github_route r WHERE r.queue = ANY (?))",
              only.queues().stream().map(QueueName::value).toList());
    }
  }
}
