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
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

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
       WHERE r.session = ? AND r.queue = ? AND e.received_at < ? ORDER BY r.event DESC LIMIT ?
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

  /**
   * Returns what happened before a time, newest first. The next page begins before the time of the
   * last moment.
   */
  SessionDetail.Timeline of(QueueName queue, SessionId session, Optional<Instant> before) {
    var to = before.map(at -> at.atOffset(ZoneOffset.UTC)).orElse(OffsetDateTime.MAX);
    var parts =
        List.of(
            failures(queue, session, to),
            letters(queue, session, before),
            acts(queue, session, before),
            Part.of(events(queue, session, to)));
    // A part that was cut may lack moments before its last one: the next page has them.
    var complete =
        parts.stream()
            .filter(Part::isCut)
            .map(part -> part.moments().getLast().at())
            .max(Comparator.naturalOrder());
    var moments = new ArrayList<>(sent(queue, session));
    parts.forEach(part -> moments.addAll(part.moments()));
    var sorted =
        moments.stream()
            .filter(moment -> before.map(moment.at()::isBefore).orElse(true))
            .filter(moment -> complete.map(at -> !moment.at().isBefore(at)).orElse(true))
            .sorted(Comparator.comparing(SessionDetail.Moment::at).reversed())
            .toList();
    var page = sorted.subList(0, end(sorted));
    return new SessionDetail.Timeline(page, complete.isPresent() || page.size() < sorted.size());
  }

  /** Returns where a page ends: moments of the same time stay on one page if they fit. */
  private static int end(List<SessionDetail.Moment> sorted) {
    if (sorted.size() <= MOST) {
      return sorted.size();
    }
    int end = MOST;
    while (end > 0 && sorted.get(end - 1).at().equals(sorted.get(MOST).at())) {
      end--;
    }
    return end == 0 ? MOST : end;
  }

  private List<SessionDetail.Moment> sent(QueueName queue, SessionId session) {
    var first = Page.Request.first(OF_EACH).withMaxBytes(1 << 20);
    return sessions.waiting(queue, session, first).items().stream().map(Timeline::sent).toList();
  }

  /** The newest moments of one kind, and whether older ones were left out. */
  private record Part(List<SessionDetail.Moment> moments, boolean isCut) {
    static Part of(List<SessionDetail.Moment> moments) {
      return new Part(moments, moments.size() >= OF_EACH);
    }

    static <T> Part of(Page<T> page, Function<T, SessionDetail.Moment> moment) {
      var moments = page.items().stream().map(moment).toList();
      return new Part(moments, page.next().isPresent() && !moments.isEmpty());
    }
  }

  private Part failures(QueueName queue, SessionId session, OffsetDateTime before) {
    return Part.of(
        attempts.before(queue, session, before, OF_EACH).stream().map(Timeline::failed).toList());
  }

  private Part letters(QueueName queue, SessionId session, Optional<Instant> before) {
    var ofSession =
        new SearchDeadLetters.Filter(
            Optional.of(session),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            before,
            Optional.empty());
    var first = Page.Request.first(OF_EACH).withMaxBytes(1 << 20);
    return Part.of(letters.page(queue, ofSession, first), Timeline::dead);
  }

  private Part acts(QueueName queue, SessionId session, Optional<Instant> before) {
    var ofSession =
        new dev.sessionkeeper.store.AuditLog.Filter(
            Optional.empty(),
            Optional.empty(),
            Optional.of(queue + "/" + session),
            Optional.empty(),
            before);
    return Part.of(audit.read(ofSession, Page.Request.first(OF_EACH)), Timeline::act);
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
    var reason = entry.reason().replaceFirst("^[0-9]+ affected; ", "");
    return moment(
        row.at(),
        "act",
        entry.actor().name() + " " + did(entry.action()) + (reason.isBlank() ? "" : ": " + reason),
        entry.details(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /** Returns what an act did, as the predicate of a sentence about its actor. */
  private static String did(String action) {
    return switch (action) {
      case "session.pause" -> "paused it";
      case "session.resume" -> "resumed it";
      case "session.park" -> "parked it";
      case "session.release" -> "released it";
      case "session.deadLetterHead" -> "set its first message aside";
      case "session.deadLetterAll" -> "set all of its messages aside";
      case "dead-letters.replay" -> "replayed dead letters";
      case "dead-letters.repair" -> "repaired a dead letter";
      default -> "did " + action;
    };
  }

  private List<SessionDetail.Moment> events(
      QueueName queue, SessionId session, OffsetDateTime before) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(EVENTS)) {
            statement.setString(1, session.value());
            statement.setString(2, queue.value());
            statement.setObject(3, before);
            statement.setInt(4, OF_EACH);
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
