package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.store.GroupCalls;
import dev.sessionkeeper.store.Rhythm;
import java.sql.Connection;
import java.sql.SQLException;
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

  private final OrderedQueue queue;
  private final GroupCalls<Call> group;

  RenewLeases(OrderedQueue queue) {
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
      calls.forEach(call -> call.answer.complete(Optional.ofNullable(ends.get(call.lane))));
    } catch (RuntimeException e) {
      calls.forEach(call -> call.answer.completeExceptionally(e));
    }
  }

  private Map<Lane, Instant> renewAll(Connection connection, List<Call> calls) throws SQLException {
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
        var ends = new HashMap<Lane, Instant>();
        while (rows.next()) {
          ends.put(new Lane(rows.getString(1), rows.getLong(2)), HandedRow.instant(rows, 3));
        }
        return ends;
      }
    }
  }
}
