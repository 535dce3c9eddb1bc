package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.InvalidInput;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.SessionStatus;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An operator's act on one session, or on all sessions of a status.
 *
 * @param sessionId the session; absent with {@code all}
 * @param all whether to act on every session of the status; only for resume
 * @param status parked (the default), paused or waiting; only with {@code all}
 */
record SessionRequest(
    Optional<String> sessionId,
    Action action,
    Optional<String> reason,
    Optional<Boolean> all,
    Optional<String> status) {
  private static final Map<String, SessionStatus> RESUMABLE =
      Stream.of(SessionStatus.PARKED, SessionStatus.PAUSED, SessionStatus.WAITING)
          .collect(Collectors.toUnmodifiableMap(SessionItem::word, status -> status));

  /** An act, by its word in the API. */
  enum Action {
    PAUSE("pause", Act.PAUSE),
    RESUME("resume", Act.RESUME),
    PARK("park", Act.PARK),
    RELEASE("release", Act.RELEASE),
    DEAD_LETTER_HEAD("deadLetterHead", Act.DEAD_LETTER_HEAD),
    DEAD_LETTER_ALL("deadLetterAll", Act.DEAD_LETTER_ALL);

    private final String word;
    private final Act act;

    Action(String word, Act act) {
      this.word = word;
      this.act = act;
    }

    Act act() {
      return act;
    }

    @Override
    public String toString() {
      return word;
    }
  }

  static SessionRequest read(Fields in) {
    var session = in.optional("sessionId", Decode.text().map(text -> SessionId.of(text).value()));
    var action = in.required("action", Decode.oneOf(Decode.words(Action.class, Action::toString)));
    var reason = in.optional("reason", Decode.text(1000));
    var all = in.optional("all", Decode.bool());
    var status = in.optional("status", Decode.oneOf(RESUMABLE).map(SessionItem::word));
    if (!in.has("sessionId") && !in.has("all")) {
      in.reject("sessionId", "is missing; all with true would mean every session of a status");
    }
    in.check();
    var request =
        new SessionRequest(session.get(), action.get(), reason.get(), all.get(), status.get());
    request.refuseWhatDoesNotFit();
    return request;
  }

  private void refuseWhatDoesNotFit() {
    if (isForAll() == sessionId.isPresent()) {
      throw new InvalidInput("all", "must be true without sessionId, and left out with it");
    }
    if (isForAll() && action != Action.RESUME) {
      throw new InvalidInput("action", "must be resume with all, was " + action);
    }
    if (!isForAll() && status.isPresent()) {
      throw new InvalidInput("status", "is given without all");
    }
  }

  boolean isForAll() {
    return all.orElse(false);
  }

  /** Returns the status of the sessions that {@code all} selects. */
  SessionStatus statusOfAll() {
    return RESUMABLE.getOrDefault(status.orElse("parked"), SessionStatus.PARKED);
  }

  /**
   * The result of the act.
   *
   * @param affected how many messages became dead letters; for the other acts 1 if something
   *     changed; with {@code all} how many sessions changed
   * @param more whether sessions of the status are left for the next request; only with {@code all}
   */
  record Answer(Optional<String> sessionId, Action action, int affected, Optional<Boolean> more) {}
}
