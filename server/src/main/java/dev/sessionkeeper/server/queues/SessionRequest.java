package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.spi.OperableSessions.Act;
import java.util.Optional;

/** What a person wants to do to a session. */
record SessionRequest(String sessionId, Action action, Optional<String> reason) {

  /** An act by its word in the API. */
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
    var session = in.required("sessionId", Decode.text().map(text -> SessionId.of(text).value()));
    var action = in.required("action", Decode.oneOf(Decode.words(Action.class, Action::toString)));
    var reason = in.optional("reason", Decode.text(1000));
    in.check();
    return new SessionRequest(session.get(), action.get(), reason.get());
  }

  /**
   * What it did.
   *
   * @param affected how many messages became dead letters; for the other acts 1 if something
   *     changed
   */
  record Answer(String sessionId, Action action, int affected) {}
}
