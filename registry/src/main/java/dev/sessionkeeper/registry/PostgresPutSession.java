package dev.sessionkeeper.registry;

import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * PUT on PostgreSQL: a look without a lock, and one call of {@code keeper.put_session} if that does
 * not settle it.
 *
 * <p>The look answers {@code existing} only: what it saw was committed, of the right tenant, high
 * enough, and not past its end at the time of the look. Everything else is decided under the row's
 * lock.
 */
record PostgresPutSession(Database database, RegistryOptions options) implements PutSession {
  private static final String LOOK =
      """
      SELECT %s
        FROM keeper.registered_session s
       WHERE s.user_id = ? AND s.capacity_id = ? AND s.ended_at IS NULL
      """
          .formatted(SessionRow.COLUMNS); // registered_session_active (user_id, capacity_id)

  private static final String PUT =
      """
      SELECT p.status, %s
        FROM keeper.put_session(?, ?, ?, ?, ?, ?, ? * interval '1 microsecond') p,
             LATERAL (SELECT (p.s).*) s
      """
          .formatted(SessionRow.COLUMNS);

  @Override
  public PutOutcome put(SessionRequest request) {
    var kind = options.kind(request.kind());
    return database.withConnection(
        connection -> {
          var existing = look(connection, request);
          return existing.isPresent()
              ? new PutOutcome.Existing(existing.get())
              : put(connection, request, kind);
        });
  }

  private static Optional<RegisteredSession> look(Connection connection, SessionRequest request)
      throws SQLException {
    try (var statement = connection.prepareStatement(LOOK)) {
      statement.setObject(1, request.userObjectId());
      statement.setObject(2, request.capacityId());
      try (var rows = statement.executeQuery()) {
        return rows.next()
            ? Optional.of(SessionRow.read(rows)).filter(found -> settles(found, request))
            : Optional.empty();
      }
    }
  }

  private static boolean settles(RegisteredSession found, SessionRequest request) {
    return found.isActive()
        && found.kind() >= request.kind()
        && found.tenantObjectId().equals(request.tenantObjectId());
  }

  private PutOutcome put(Connection connection, SessionRequest request, SessionKind kind)
      throws SQLException {
    try (var statement = connection.prepareStatement(PUT)) {
      statement.setObject(1, request.tenantObjectId());
      statement.setObject(2, request.userObjectId());
      statement.setObject(3, request.capacityId());
      statement.setShort(4, (short) kind.number());
      statement.setInt(5, kind.factorMilli());
      statement.setLong(6, options.period().toNanos() / 1000);
      statement.setLong(7, options.lifetime().toNanos() / 1000);
      try (var rows = statement.executeQuery()) {
        rows.next();
        return switch (rows.getString("status")) {
          case "created" -> new PutOutcome.Created(SessionRow.read(rows));
          case "existing" -> new PutOutcome.Existing(SessionRow.read(rows));
          case "upgraded" -> new PutOutcome.Upgraded(SessionRow.read(rows));
          case "tenant-mismatch" -> new PutOutcome.TenantMismatch();
          case String other -> throw new IllegalStateException("put_session answered " + other);
        };
      }
    }
  }
}
