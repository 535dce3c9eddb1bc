package dev.sessionkeeper.server.queues;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;
import java.util.Optional;

/**
 * A request to hold a session: a chosen one, or the one that has waited longest.
 *
 * @param owner a name for operators; by default the credential's
 */
record LeaseRequest(
    Optional<String> sessionId,
    Optional<String> owner,
    @JsonProperty("wait") Optional<Duration> patience) {
  static LeaseRequest read(Fields in) {
    var session = in.optional("sessionId", Decode.text().map(text -> SessionId.of(text).value()));
    var owner = in.optional("owner", Decode.text().map(text -> Owner.of(text).name()));
    var wait = in.optional("wait", Decode.duration(Duration.ZERO, Queues.MAX_WAIT));
    in.check();
    return new LeaseRequest(session.get(), owner.get(), wait.get());
  }
}
