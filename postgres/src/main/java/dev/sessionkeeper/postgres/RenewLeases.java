package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.store.GroupCalls;
import dev.sessionkeeper.store.Rhythm;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Extends leases; those that are asked for at the same time together. */
final class RenewLeases {
  private static final String RENEW =
      "SELECT session, epoch, until FROM keeper.renew_lanes(?, ?, ?)";

  private static final Duration ASK_AGAIN = Duration.ofMillis(20);

  private final QueueContext queue;
  private final GroupCalls<Call> group;

  RenewLeases(QueueContext queue) {
    this.queue = queue;
    this.group =
        new GroupCalls<>("keeper-renew-" + queue.name(), 512, Rhythm.atOnce(), this::renewAll);
  }

  private record Lane(String session, long epoch) {}

  private record Call(Lane lane, CompletableFuture<Optional<Instant>> answer) {}

  /** The new end of the lease; empty when it is not held any more. */
  CompletableFuture<Optional<Instant>> renew(SessionId session, long epoch) {
    var call = new Call(new Lane(session.value(), epoch), new CompletableFuture<>());
    group.add(call);
    return call.answer;
  }

  private void renewAll(List<Call> calls) {
    try {
      var ends = queue.connections().call(connection -> renewAll(connection, calls));
      for (var call : calls) {
        var end = ends.get(call.lane);
        if (end == null || end.isPresent()) {
          call.answer.complete(end == null ? Optional.empty() : end);
        } else {
          var unused = queue.time().schedule(ASK_AGAIN, () -> group.add(call));
        }
      }
    } catch (RuntimeException e) {
      calls.forEach(call -> call.answer.completeExceptionally(e));
    }
  }

  /** The new ends; no end where the owner is settling in a transaction this moment. */
  private Map<Lane, Optional<Instant>> renewAll(Connection connection, List<Call> calls)
      throws SQLException {
    var lanes =
        calls.stream()
            .map(Call::lane)
            .distinct()
            .sorted(Comparator.comparing(Lane::session))
            .toList();
    try (var statement = connection.prepareStatement(RENEW)) {
      statement.setInt(1, queue.id());
      statement.setArray(
          2,
          SqlArray.of(
              connection, "text", lanes.stream().map(Lane::session).toArray(String[]::new)));
      statement.setArray(
          3, SqlArray.of(connection, "int8", lanes.stream().mapToLong(Lane::epoch).toArray()));
      try (var rows = statement.executeQuery()) {
        var ends = new HashMap<Lane, Optional<Instant>>();
        while (rows.next()) {
          ends.put(
              new Lane(rows.getString(1), rows.getLong(2)), Instants.optional(rows, 3));
        }
        return ends;
      }
    }
  }
}
