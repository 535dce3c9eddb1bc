package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
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

/** Extends leases. Renewals that come at the same time share a statement. */
public final class RenewLeases {
  private static final String RENEW =
      "SELECT session, epoch, until FROM keeper.renew_lanes(?, ?, ?)";

  private static final Duration ASK_AGAIN = Duration.ofMillis(20);

  private final QueueContext queue;
  private final GroupCalls<Call> group;

  public RenewLeases(QueueContext queue) {
    this.queue = queue;
    this.group =
        new GroupCalls<>("keeper-renew-" + queue.name(), 512, Rhythm.atOnce(), this::renewAll);
  }

  private record LeaseKey(String session, long epoch) {}

  private record Call(LeaseKey key, CompletableFuture<Optional<Instant>> answer) {}

  /** Returns the new end of the lease; empty if the lease is lost. */
  CompletableFuture<Optional<Instant>> renew(SessionId session, long epoch) {
    var call = new Call(new LeaseKey(session.value(), epoch), new CompletableFuture<>());
    group.add(call);
    return call.answer;
  }

  private void renewAll(List<Call> calls) {
    try {
      var ends = queue.connections().call(connection -> renewAll(connection, calls));
      for (var call : calls) {
        var end = ends.get(call.key);
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

  /**
   * Returns the new ends. A lease whose owner is settling in a transaction right now has no end.
   */
  private Map<LeaseKey, Optional<Instant>> renewAll(Connection connection, List<Call> calls)
      throws SQLException {
    var keys =
        calls.stream()
            .map(Call::key)
            .distinct()
            .sorted(Comparator.comparing(LeaseKey::session))
            .toList();
    try (var statement = connection.prepareStatement(RENEW)) {
      statement.setInt(1, queue.id());
      statement.setArray(
          2,
          SqlArray.of(
              connection, "text", keys.stream().map(LeaseKey::session).toArray(String[]::new)));
      statement.setArray(
          3, SqlArray.of(connection, "int8", keys.stream().mapToLong(LeaseKey::epoch).toArray()));
      try (var rows = statement.executeQuery()) {
        var ends = new HashMap<LeaseKey, Optional<Instant>>();
        while (rows.next()) {
          ends.put(new LeaseKey(rows.getString(1), rows.getLong(2)), Instants.optional(rows, 3));
        }
        return ends;
      }
    }
  }
}
