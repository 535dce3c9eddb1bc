package dev.sessionkeeper.server.inspect;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.SearchDeadLetters;
import dev.sessionkeeper.postgres.SearchSessions;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.store.Database;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Merges a session's history: waiting messages, failed attempts, dead letters, operators' acts and
 * GitHub events. Each part is one indexed query.
 */
final class Timeline {
  /** The most events of an answer. */
  static final int MOST = 200;

  private static final int OF_EACH = 100;
  private static final String EVENTS =
      """
      SELECT e.id::text, e.type, e.action, e.received_at
        FROM keeper.github_route r JOIN keeper.github_event e ON e.seq = r.event
       WHERE r.session = ? AND r.queue = ? ORDER BY r.event DESC LIMIT ?
      """; // github_route_session (session, event), github_event_pkey

  private final Database database;
  private final SearchSessions sessions;
  private final SearchDeadLetters letters;
  private final AttemptTable attempts;
  private final AuditLog audit;

  Timeline(
      Database database,
      SearchSessions sessions,
      SearchDeadLetters letters,
      AttemptTable attempts,
      AuditLog audit) {
    this.database = database;
    this.sessions = sessions;
    this.letters = letters;
    this.attempts = attempts;
    this.audit = audit;
  }

  SessionDetail.Timeline of(QueueName queue, SessionId session, Optional<Instant> before) {
    var moments = new ArrayList<SessionDetail.Moment>();
    sessions
        .waiting(queue, session, Page.Request.first(OF_EACH).withMaxBytes(1 << 20))
        .items()
        .forEach(waiting -> moments.add(sent(waiting)));
    attempts.newest(queue, session, OF_EACH).forEach(attempt -> moments.add(failed(attempt)));
    var ofSession =
        new SearchDeadLetters.Filter(
            Optional.of(session),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());
    letters
        .page(queue, ofSession, Page.Request.first(OF_EACH).withMaxBytes(1 << 20))
        .items()
        .forEach(letter -> moments.add(dead(letter)));
    audit
        .read(
            new dev.sessionkeeper.store.AuditLog.Filter(
                Optional.empty(),
                Optional.empty(),
                Optional.of(queue + "/" + session),
                Optional.empty(),
                before),
            Page.Request.first(OF_EACH))
        .items()
        .forEach(row -> moments.add(act(row)));
    moments.addAll(events(queue, session));
    var sorted =
        moments.stream()
            .filter(moment -> before.map(moment.at()::isBefore).orElse(true))
            .sorted(Comparator.comparing(SessionDetail.Moment::at).reversed())
            .toList();
    return new SessionDetail.Timeline(
        sorted.subList(0, Math.min(MOST, sorted.size())), sorted.size() > MOST);
  }

  private static SessionDetail.Moment sent(SearchSessions.Waiting waiting) {
    return moment(
        waiting.enqueuedAt(),
        "sent",
        "message " + waiting.sequence() + " (" + waiting.message().id() + ") was sent and waits",
        "",
        Optional.of(waiting.sequence()),
        Optional.empty(),
        Optional.ofNullable(waiting.message().properties().get("event_id")));
  }

  private static SessionDetail.Moment failed(Attempt attempt) {
    var where =
        attempt.owner().map(owner -> ", " + owner).orElse("")
            + attempt.epoch().map(epoch -> " (epoch " + epoch + ")").orElse("");
    return moment(
        attempt.at(),
        attempt.isCounted() ? "failed" : "postponed",
        (attempt.isCounted() ? "attempt " + attempt.attempt() + " of message " : "message ")
            + attempt.sequence()
            + where
            + (attempt.error().isBlank()
                ? ""
                : ": " + attempt.error().lines().findFirst().orElse("")),
        attempt.error().lines().count() > 1 ? attempt.error() : "",
        Optional.of(attempt.sequence()),
        Optional.empty(),
        Optional.empty());
  }

  private static SessionDetail.Moment dead(DeadLetter letter) {
    return moment(
        letter.deadAt(),
        "dead",
        "message " + letter.sequence() + " became a dead letter: " + letter.reason(),
        letter.lastError(),
        Optional.of(letter.sequence()),
        Optional.of(letter.id()),
        Optional.empty());
  }

  private static SessionDetail.Moment act(dev.sessionkeeper.store.AuditLog.Row row) {
    var entry = row.entry();
    var verb = entry.action().replaceFirst("^session\\.", "");
    return moment(
        row.at(),
        "act",
        entry.actor().name()
            + ": "
            + verb
            + (entry.reason().isBlank() ? "" : " — " + entry.reason()),
        entry.details(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  private List<SessionDetail.Moment> events(QueueName queue, SessionId session) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(EVENTS)) {
            statement.setString(1, session.value());
            statement.setString(2, queue.value());
            statement.setInt(3, OF_EACH);
            try (var rows = statement.executeQuery()) {
              var moments = new ArrayList<SessionDetail.Moment>();
              while (rows.next()) {
                var action = rows.getString(3);
                moments.add(
                    moment(
                        rows.getObject(4, OffsetDateTime.class).toInstant(),
                        "event",
                        "GitHub sent " + rows.getString(2) + (action == null ? "" : "." + action),
                        "",
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(rows.getString(1))));
              }
              return moments;
            }
          }
        });
  }

  private static SessionDetail.Moment moment(
      Instant at,
      String kind,
      String text,
      String detail,
      Optional<Long> sequence,
      Optional<String> deadLetter,
      Optional<String> event) {
    return new SessionDetail.Moment(
        at,
        kind,
        text,
        Optional.of(detail).filter(some -> !some.isBlank()),
        sequence,
        deadLetter,
        event);
  }
}
