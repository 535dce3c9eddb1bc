package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.InvalidInput;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * Which events are sent again. At least one of the filters is there; all that are there must hold.
 *
 * @param bot also the only one they are sent to
 * @param deadLetters whether only messages that are dead letters now are put back, as they are
 * @param replayId the caller's own name for this replay: the same one again does nothing twice
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

  /** The filters alone, for the audit log and to know the same request again. */
  String selection() {
    return query() + (deadLetters.orElse(false) ? " dead letters" : "");
  }

  /**
   * The result of a replay.
   *
   * @param repeated whether an earlier request had done it already
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
