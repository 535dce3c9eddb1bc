package dev.sessionkeeper.registry;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.UUID;

/**
 * PUT on SQL Server, statement by statement. docs/registry.md says what of it has been run.
 *
 * <p>No HOLDLOCK: range locks would make neighbours wait and deadlock. The filtered unique index
 * {@code registered_session_active} decides a race of two inserts; the loser looks again.
 */
record SqlServerPutSession(Database database, RegistryOptions options) implements PutSession {
  private static final int LOOKS = 20;

  private static final String LOCK =
      """
      SELECT session_id, tenant_id, kind, started_at, expires_at, metered_through
        FROM keeper.registered_session WITH (UPDLOCK, ROWLOCK)
       WHERE user_id = ? AND capacity_id = ? AND ended_at IS NULL
      """;

  // The time of a statement is fixed when it begins, so this is one of its own, after the lock.
  private static final String NOW = "SELECT SYSUTCDATETIME()";

  private static final String END =
      """
      UPDATE keeper.registered_session
         SET ended_at = ?, end_reason = ?,
             closed = CASE WHEN metered_through >= ? THEN 1 ELSE 0 END
       WHERE session_id = ?
      """;

  private static final String INSERT =
      """
      INSERT INTO keeper.registered_session
             (session_id, tenant_id, user_id, capacity_id, kind, factor_milli, period_micros,
              started_at, expires_at, metered_through)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """;

  /** The active row, under its lock. */
  private record Held(
      UUID id, UUID tenant, int kind, Instant start, Instant expiry, Instant metered) {
    Instant notBefore(Instant now) {
      var floor = start.isAfter(metered) ? start : metered;
      return now.isAfter(floor) ? now : floor;
    }
  }

  @Override
  public PutOutcome put(SessionRequest request) {
    var kind = options.kind(request.kind());
    for (int look = 1; look <= LOOKS; look++) {
      var outcome = database.inTransaction(connection -> once(connection, request, kind));
      if (outcome.isPresent()) {
        return outcome.get();
      }
    }
    throw new KeeperException.Unavailable("The registry (every look lost a race)");
  }

  private Optional<PutOutcome> once(Connection connection, SessionRequest request, SessionKind kind)
      throws SQLException {
    var held = lock(connection, request);
    var read = now(connection);
    var now = held.map(row -> row.notBefore(read)).orElse(read);
    boolean upgrade = false;
    if (held.isPresent()) {
      var row = held.get();
      if (!row.expiry().isAfter(now)) {
        end(connection, row.id(), row.expiry(), "expired");
      } else if (!row.tenant().equals(request.tenantObjectId())) {
        return Optional.of(new PutOutcome.TenantMismatch());
      } else if (row.kind() >= kind.number()) {
        return Optional.of(
            new PutOutcome.Existing(
                session(row.id(), request, row.kind(), row.start(), row.expiry())));
      } else {
        end(connection, row.id(), now, "upgraded");
        upgrade = true;
      }
    }
    var id = UUID.randomUUID();
    var expiry = now.plus(options.lifetime());
    if (!inserts(connection, id, request, kind, now, expiry)) {
      // A transaction that met the unique index changes nothing; the next look finds the winner.
      return Optional.empty();
    }
    var begun = session(id, request, kind.number(), now, expiry);
    return Optional.of(upgrade ? new PutOutcome.Upgraded(begun) : new PutOutcome.Created(begun));
  }

  private static Optional<Held> lock(Connection connection, SessionRequest request)
      throws SQLException {
    try (var statement = connection.prepareStatement(LOCK)) {
      statement.setObject(1, request.userObjectId());
      statement.setObject(2, request.capacityId());
      try (var rows = statement.executeQuery()) {
        return rows.next()
            ? Optional.of(
                new Held(
                    rows.getObject(1, UUID.class),
                    rows.getObject(2, UUID.class),
                    rows.getInt(3),
                    instant(rows.getObject(4, LocalDateTime.class)),
                    instant(rows.getObject(5, LocalDateTime.class)),
                    instant(rows.getObject(6, LocalDateTime.class))))
            : Optional.empty();
      }
    }
  }

  private static Instant now(Connection connection) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery(NOW)) {
      rows.next();
      return instant(rows.getObject(1, LocalDateTime.class));
    }
  }

  private static void end(Connection connection, UUID id, Instant at, String reason)
      throws SQLException {
    try (var statement = connection.prepareStatement(END)) {
      set(statement, 1, at);
      statement.setString(2, reason);
      set(statement, 3, at);
      statement.setObject(4, id);
      statement.executeUpdate();
    }
  }

  private boolean inserts(
      Connection connection,
      UUID id,
      SessionRequest request,
      SessionKind kind,
      Instant start,
      Instant expiry)
      throws SQLException {
    try (var statement = connection.prepareStatement(INSERT)) {
      statement.setObject(1, id);
      statement.setObject(2, request.tenantObjectId());
      statement.setObject(3, request.userObjectId());
      statement.setObject(4, request.capacityId());
      statement.setInt(5, kind.number());
      statement.setInt(6, kind.factorMilli());
      statement.setLong(7, options.period().toNanos() / 1000);
      set(statement, 8, start);
      set(statement, 9, expiry);
      set(statement, 10, start);
      statement.executeUpdate();
      return true;
    } catch (SQLException e) {
      if (isDuplicate(e)) {
        connection.rollback();
        return false;
      }
      throw e;
    }
  }

  /** 2601 and 2627 are SQL Server's words for it, 23505 is the standard's. */
  private static boolean isDuplicate(SQLException e) {
    return e.getErrorCode() == 2601 || e.getErrorCode() == 2627 || "23505".equals(e.getSQLState());
  }

  private static RegisteredSession session(
      UUID id, SessionRequest request, int kind, Instant start, Instant expiry) {
    return new RegisteredSession(
        id,
        request.userObjectId(),
        request.tenantObjectId(),
        request.capacityId(),
        kind,
        start,
        expiry,
        true);
  }

  private static Instant instant(LocalDateTime at) {
    return at.toInstant(ZoneOffset.UTC);
  }

  private static void set(PreparedStatement statement, int index, Instant at) throws SQLException {
    statement.setObject(index, LocalDateTime.ofInstant(at, ZoneOffset.UTC));
  }
}
