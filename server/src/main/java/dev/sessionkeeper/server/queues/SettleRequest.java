package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Settles deliveries of a held session, all or nothing, and may replace the session's state.
 *
 * @param state the new state as base64, written together with the settlements
 * @param stateVersion the version to replace; any by default
 */
record SettleRequest(List<Item> settlements, Optional<byte[]> state, Optional<Long> stateVersion) {

  static SettleRequest read(Fields in) {
    var settlements = in.required("settlements", Decode.list(0, 1000, Decode.object(Item::read)));
    var state = in.optional("state", Decode.base64());
    var version = in.optional("stateVersion", Decode.integer(0L, Long.MAX_VALUE));
    if (in.has("stateVersion") && !in.has("state")) {
      in.reject("stateVersion", "is given without state");
    }
    in.check();
    return new SettleRequest(settlements.get(), state.get(), version.get());
  }

  List<HeldSession.Settled> settled() {
    return settlements.stream()
        .map(item -> new HeldSession.Settled(item.sequence(), item.settlement()))
        .toList();
  }

  Optional<SessionState.Write> write() {
    return state.map(
        bytes -> new SessionState.Write(bytes, stateVersion.orElse(SessionState.ANY_VERSION)));
  }

  /** The settlement of one delivery; {@link Ending} explains the fields. */
  record Item(
      long sequence,
      SettleAction action,
      Optional<Duration> delay,
      Optional<String> reason,
      Optional<String> error,
      Optional<Boolean> keepRetrying) {
    static Item read(Fields in) {
      var sequence = in.required("sequence", Decode.integer(0L, Long.MAX_VALUE));
      var fields = Ending.read(in);
      in.check();
      var ending = fields.get();
      return new Item(
          sequence.get(),
          ending.action(),
          ending.delay(),
          ending.reason(),
          ending.error(),
          ending.keepRetrying());
    }

    Settlement settlement() {
      return new Ending(action, delay, reason, error, keepRetrying).settlement();
    }
  }

  /** The settled messages, in the order of the request. */
  record Answer(List<Done> settlements) {
    static Answer of(SettleRequest request) {
      return new Answer(
          request.settlements().stream()
              .map(item -> new Done(item.sequence(), item.action()))
              .toList());
    }
  }

  /** One settlement that took effect. */
  record Done(long sequence, SettleAction action) {}
}
