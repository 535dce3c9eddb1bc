package dev.sessionkeeper.registry;

import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * PUT on PostgreSQL: together with others as far as no row has to be locked, else by one call of
 * {@code keeper.put_session}.
 *
 * <p>Without a lock only two things are answered: {@code existing}, for what was committed, of the
 * right tenant, high enough, and not past its end at the time of the look; and {@code created},
 * which the unique index decides. Everything else is decided under the row's lock.
 */
final class PostgresPutSession implements PutSession {
  private static final String PUT_TOGETHER =
      """
      SELECT p.place, p.status, %s
        FROM keeper.put_sessions(?, ?, ?, ?, ?, ?, ? * interval '1 microsecond') p,
             LATERAL (SELECT (p.s).*) s
      """
          .formatted(SessionRow.COLUMNS); // registered_session_active (user_id, capacity_id)

  private static final String PUT =
      """
      SELECT 1 AS place, p.status, %s
        FROM keeper.put_session(?, ?, ?, ?, ?, ?, ? * interval '1 microsecond') p,
             LATERAL (SELECT (p.s).*) s
      """
          .formatted(SessionRow.COLUMNS);

  private final Database database;
  private final RegistryOptions options;
  private final GroupPuts groups = new GroupPuts(this::together);

  PostgresPutSession(Database database, RegistryOptions options) {
    this.database = database;
    this.options = options;
  }

  @Override
  public PutOutcome put(SessionRequest request) {
    var kind = options.kind(request.kind());
    return groups.put(request).orElseGet(() -> alone(request, kind));
  }

  private List<Optional<PutOutcome>> together(List<SessionRequest> requests) {
    return database.inStatement(connection -> together(connection, requests));
  }

  private List<Optional<PutOutcome>> together(Connection connection, List<SessionRequest> requests)
      throws SQLException {
    var outcomes =
        new ArrayList<Optional<PutOutcome>>(
            Collections.nCopies(requests.size(), Optional.empty()));
    try (var statement = connection.prepareStatement(PUT_TOGETHER)) {
      var columns = new Columns<>(statement, requests);
      columns.add("uuid", SessionRequest::tenantObjectId);
      columns.add("uuid", SessionRequest::userObjectId);
      columns.add("uuid", SessionRequest::capacityId);
      columns.addInts(SessionRequest::kind);
      columns.addInts(request -> options.kind(request.kind()).factorMilli());
      statement.setLong(6, options.period().toNanos() / 1000);
      statement.setLong(7, options.lifetime().toNanos() / 1000);
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          outcomes.set(rows.getInt(1) - 1, outcome(rows));
        }
      }
    }
    return outcomes;
  }

  private PutOutcome alone(SessionRequest request, SessionKind kind) {
    return database.inStatement(
        connection -> {
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
              return outcome(rows).orElseThrow();
            }
          }
        });
  }

  private static Optional<PutOutcome> outcome(ResultSet rows) throws SQLException {
    return switch (rows.getString(2)) {
      case "created" -> Optional.of(new PutOutcome.Created(session(rows)));
      case "existing" -> Optional.of(new PutOutcome.Existing(session(rows)));
      case "upgraded" -> Optional.of(new PutOutcome.Upgraded(session(rows)));
      case "tenant-mismatch" -> Optional.of(new PutOutcome.TenantMismatch());
      case "alone" -> Optional.empty();
      case String other -> throw new IllegalStateException("put_session answered " + other);
    };
  }

  private static RegisteredSession session(ResultSet rows) throws SQLException {
    return SessionRow.read(rows, 3);
  }
}
