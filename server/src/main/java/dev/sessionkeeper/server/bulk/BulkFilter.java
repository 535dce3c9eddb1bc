package dev.sessionkeeper.server.bulk;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.SearchDeadLetters;
import dev.sessionkeeper.postgres.SearchSessions;
import dev.sessionkeeper.server.feature.EventReplays;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.Json;
import dev.sessionkeeper.spi.SessionStatus;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Selects sessions by status and prefix; dead letters by reason and fingerprint; events by id, bot,
 * repository and type. Dead letters and events are also selected by session and time.
 */
@JsonInclude(JsonInclude.Include.NON_ABSENT)
record BulkFilter(
    Optional<String> status,
    Optional<String> prefix,
    Optional<String> sessionId,
    Optional<String> reason,
    Optional<String> fingerprint,
    Optional<UUID> eventId,
    Optional<String> bot,
    Optional<String> repository,
    Optional<String> type,
    Optional<Instant> from,
    Optional<Instant> to) {
  /** Selects all. */
  static final BulkFilter ALL =
      new BulkFilter(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  static BulkFilter read(Fields in) {
    var status =
        in.optional(
            "status",
            Decode.text(20)
                .map(
                    text -> {
                      statuses(text);
                      return text;
                    }));
    var prefix = in.optional("prefix", Decode.text(128));
    var session = in.optional("sessionId", Decode.text().map(text -> SessionId.of(text).value()));
    var reason = in.optional("reason", Decode.text(300));
    var fingerprint = in.optional("fingerprint", Decode.text(64));
    var eventId = in.optional("eventId", Decode.guid());
    var bot = in.optional("bot", Decode.text(300));
    var repository = in.optional("repository", Decode.text(300));
    var type = in.optional("type", Decode.text(300));
    var from = in.optional("from", Decode.instant());
    var to = in.optional("to", Decode.instant());
    in.check();
    return new BulkFilter(
        status.get(),
        prefix.get(),
        session.get(),
        reason.get(),
        fingerprint.get(),
        eventId.get(),
        bot.get(),
        repository.get(),
        type.get(),
        from.get(),
        to.get());
  }

  static BulkFilter parse(String json) {
    return Fields.read(json.getBytes(StandardCharsets.UTF_8), BulkFilter::read);
  }

  String json() {
    return new String(Json.write(this), StandardCharsets.UTF_8);
  }

  /** Returns whether all fields of the filter apply to the objects of this act. */
  boolean fits(BulkAct act) {
    boolean isOfSessions = status.isPresent() || prefix.isPresent();
    boolean isOfLetters = reason.isPresent() || fingerprint.isPresent();
    boolean isOfEvents =
        eventId.isPresent() || bot.isPresent() || repository.isPresent() || type.isPresent();
    boolean isOfBoth = sessionId.isPresent() || from.isPresent() || to.isPresent();
    if (act.onSession().isPresent()) {
      return !isOfLetters && !isOfEvents && !isOfBoth;
    }
    return !isOfSessions && !(act.isOnEvents() ? isOfLetters : isOfEvents);
  }

  SearchSessions.Filter sessions() {
    return new SearchSessions.Filter(statuses(status.orElse("attention")), prefix.orElse(""));
  }

  SearchDeadLetters.Filter deadLetters() {
    return new SearchDeadLetters.Filter(
        sessionId.map(SessionId::of), reason, fingerprint, from, to, Optional.empty());
  }

  EventReplays.Selection events() {
    return new EventReplays.Selection(eventId, bot, repository, sessionId, type, from, to);
  }

  private static Set<SessionStatus> statuses(String word) {
    if (word.equals("attention")) {
      return SearchSessions.Filter.ATTENTION;
    }
    try {
      return Set.of(SessionStatus.valueOf(word.toUpperCase(Locale.ROOT)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "must be attention, ready, held, waiting, parked or paused, was " + word, e);
    }
  }
}
