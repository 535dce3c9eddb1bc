package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Selects the dead letters to replay: those of a session, single messages, or all. */
record ReplayRequest(
    Optional<String> sessionId,
    Optional<List<String>> messageIds,
    Optional<Boolean> all,
    Optional<Boolean> dryRun) {

  static ReplayRequest read(Fields in) {
    var session = in.optional("sessionId", Decode.text().map(text -> SessionId.of(text).value()));
    var ids =
        in.optional(
            "messageIds",
            Decode.list(1, 1000, Decode.text().map(text -> MessageId.of(text).value())));
    var all = in.optional("all", Decode.bool());
    var dryRun = in.optional("dryRun", Decode.bool());
    var named = Stream.of("sessionId", "messageIds", "all").filter(in::has).toList();
    if (named.isEmpty()) {
      in.reject("sessionId", "is missing; messageIds or all would do as well");
    } else if (named.size() > 1) {
      in.reject(named.get(1), "must not be there together with " + named.get(0));
    }
    in.check();
    if (all.get().isPresent() && !all.get().get()) {
      throw new dev.sessionkeeper.server.json.InvalidInput("all", "must be true or left out");
    }
    return new ReplayRequest(session.get(), ids.get(), all.get(), dryRun.get());
  }

  Selection selection() {
    if (sessionId.isPresent()) {
      return new Selection.OfSession(SessionId.of(sessionId.get()));
    }
    return messageIds
        .<Selection>map(ids -> new Selection.OfMessages(ids.stream().map(MessageId::of).toList()))
        .orElseGet(Selection.All::new);
  }

  /** The result of a replay. */
  record Answer(
      Optional<Integer> replayed, Optional<Boolean> dryRun, Optional<Integer> wouldReplay) {
    static Answer replayed(int count) {
      return new Answer(Optional.of(count), Optional.empty(), Optional.empty());
    }

    static Answer wouldReplay(int count) {
      return new Answer(Optional.empty(), Optional.of(true), Optional.of(count));
    }
  }
}
