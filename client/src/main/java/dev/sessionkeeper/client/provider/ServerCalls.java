package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.ProblemException;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The transport: the only class in this package that calls the server. It turns problems into
 * errors of the library, and an interrupted call into an {@link InterruptedException}.
 */
final class ServerCalls {
  private static final Map<String, String> JSON = Map.of("Content-Type", "application/json");

  private final KeeperClient client;

  ServerCalls(KeeperClient client) {
    this.client = client;
  }

  /** The subject of a failed call. */
  record About(QueueName queue, Optional<SessionId> session, long epoch) {
    static About queue(QueueName queue) {
      return new About(queue, Optional.empty(), 0);
    }

    static About session(QueueName queue, SessionId session, long epoch) {
      return new About(queue, Optional.of(session), epoch);
    }

    SessionId sessionOrQueue() {
      return session.orElseGet(() -> SessionId.fromKey(queue.value()));
    }
  }

  byte[] get(About about, String path, Map<String, String> query) {
    return call(about, "GET", path + asked(query), Optional.empty());
  }

  byte[] post(About about, String path, ObjectNode body) {
    return call(about, "POST", path, Optional.of(Wire.bytes(body)));
  }

  /** Posts JSON that is written already. */
  byte[] post(About about, String path, byte[] json) {
    return call(about, "POST", path, Optional.of(json));
  }

  /** Makes a call that waits at the server; interrupting it ends the wait. */
  byte[] waiting(Supplier<byte[]> call) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    try {
      return call.get();
    } catch (KeeperException.OutcomeUnknown e) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      throw e;
    }
  }

  boolean put(About about, String path, ObjectNode body) {
    return translated(
        about, () -> client.call("PUT", path, JSON, Optional.of(Wire.bytes(body))).status() == 201);
  }

  void delete(About about, String path) {
    translated(about, () -> client.call("DELETE", path, Map.of(), Optional.empty()));
  }

  KeeperClient.RawAnswer state(
      About about, String method, String path, Map<String, String> headers, Optional<byte[]> body) {
    return translated(about, () -> client.call(method, path, headers, body));
  }

  private byte[] call(About about, String method, String path, Optional<byte[]> body) {
    return translated(
        about, () -> client.call(method, path, body.isPresent() ? JSON : Map.of(), body).body());
  }

  private static String asked(Map<String, String> query) {
    var text = new StringBuilder();
    query.forEach(
        (name, value) ->
            text.append(text.isEmpty() ? "?" : "&")
                .append(name)
                .append("=")
                .append(KeeperClient.encoded(value)));
    return text.toString();
  }

  private static <T> T translated(About about, Supplier<T> call) {
    try {
      return call.get();
    } catch (ProblemException e) {
      throw translate(about, e);
    }
  }

  private static RuntimeException translate(About about, ProblemException problem) {
    var detail = String.valueOf(problem.getMessage());
    return switch (problem.type()) {
      case "session-lock-lost", "session-limit-reached" ->
          new KeeperException.LockLost(
              about.session().map(id -> "session " + id).orElse("the message"), about.epoch());
      case "out-of-order" -> new KeeperException.OutOfOrder(about.sessionOrQueue(), 0, detail);
      case "stale-state", "precondition-failed" ->
          new KeeperException.StaleState(about.sessionOrQueue(), 0, 0);
      case "too-large" -> limit(problem.document());
      case "session-mode-mismatch" ->
          new KeeperException.SessionModeMismatch(
              about.queue(),
              detail.contains("UNORDERED") ? QueueMode.UNORDERED : QueueMode.ORDERED,
              "what was asked for");
      case "unknown-queue" -> new KeeperException.UnknownQueue(about.queue());
      case "queue-conflict" ->
          new KeeperException.QueueConflict(
              about.queue(),
              detail.contains("UNORDERED") ? QueueMode.UNORDERED : QueueMode.ORDERED);
      case "invalid-cursor" -> new KeeperException.InvalidCursor(detail);
      case "not-supported" -> new KeeperException.NotSupported("server", detail);
      case "unavailable", "overloaded", "rate-limited" ->
          KeeperException.Unavailable.because(detail, problem);
      case "outcome-unknown" -> new KeeperException.OutcomeUnknown("The call", problem);
      case "unauthenticated", "forbidden", "misdirected" ->
          new KeeperException.Misconfigured(
              "The server refuses the credential: " + detail, problem);
      case "session-locked", "session-set-aside" -> problem;
      default -> new KeeperException.Rejected(detail, problem);
    };
  }

  private static KeeperException limit(JsonNode problem) {
    return new KeeperException.LimitExceeded(
        problem.path("limit").asString("maxRequestBytes"),
        problem.path("allowed").asLong(0),
        problem.path("actual").asLong(0));
  }
}
