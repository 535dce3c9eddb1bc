package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.InvalidInput;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * Selects stored events to send again. At least one filter must be present; an event must match
 * all.
 *
 * @param bot a filter, and the only bot that gets the messages
 * @param deadLetters whether to put back only messages that are dead letters now, unchanged
 * @param replayId the caller's name for this replay; a second request with the same name changes
 *     nothing
 * @param reason why, for the audit log
 */
record EventReplayRequest(
    Optional<UUID> eventId,
    Optional<String> bot,
    Optional<String> repository,
    Optional<String> sessionId,
    Optional<String> type,
    Optional<Instant> from,
    Optional<Instant> to,
    Optional<Boolean> deadLetters,
    Optional<Boolean> dryRun,
    Optional<UUID> replayId,
    Optional<String> reason) {

  static EventReplayRequest read(Fields in) {
    var query = EventQuery.ask(in);
    var deadLetters = in.optional("deadLetters", Decode.bool());
    var dryRun = in.optional("dryRun", Decode.bool());
    var replayId = in.optional("replayId", Decode.guid());
    var reason = in.optional("reason", Decode.text(1000));
    boolean filtered = EventQuery.NAMES.stream().anyMatch(in::has);
    if (!filtered && !in.has("deadLetters")) {
      in.reject("eventId", "is missing; any other filter would do as well");
    }
    in.check();
    if (!filtered && !deadLetters.get().orElse(false)) {
      throw new InvalidInput("deadLetters", "must be true when nothing else is named");
    }
    var events = query.get();
    return new EventReplayRequest(
        events.eventId(),
        events.bot(),
        events.repository(),
        events.sessionId(),
        events.type(),
        events.from(),
        events.to(),
        deadLetters.get(),
        dryRun.get(),
        replayId.get(),
        reason.get());
  }

  EventQuery query() {
    return new EventQuery(eventId, bot, repository, sessionId, type, from, to);
  }

  /** Returns the filters as text, for the audit log and to recognise a repeated request. */
  String selection() {
    return query() + (deadLetters.orElse(false) ? " dead letters" : "");
  }

  /**
   * The result of a replay.
   *
   * @param repeated whether an earlier request had already done it
   */
  record Answer(
      Optional<Integer> replayed,
      Optional<Integer> events,
      Optional<UUID> replayId,
      Optional<Boolean> repeated,
      Optional<Boolean> dryRun,
      Optional<Integer> wouldReplay) {
    static Answer replayed(ReplayTable.Replay replay, boolean repeated) {
      return new Answer(
          Optional.of(replay.messages()),
          Optional.of(replay.events()),
          Optional.of(replay.id()),
          repeated ? Optional.of(true) : Optional.empty(),
          Optional.empty(),
          Optional.empty());
    }

    static Answer revived(int count) {
      return new Answer(
          Optional.of(count),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());
    }

    static Answer wouldReplay(int count) {
      return new Answer(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.of(true),
          Optional.of(count));
    }
  }
}
