package dev.sessionkeeper.registry;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.SqlErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * PUT on PostgreSQL: a look without a lock; where there is no session, together with others that
 * begin one, in one commit; else by one call of {@code keeper.put_session}.
 *
 * <p>Without the row's lock only two things are answered: {@code existing}, for what was committed,
 * of the right tenant, high enough, and not past its end at the time of the look; and {@code
 * created}, which the unique index decides. Looks do not leave in groups: they need no commit, and
 * would wait for those that do.
 */
final class PostgresPutSession implements PutSession {
  private static final String LOOK =
      """
      SELECT %s
        FROM keeper.registered_session s
       WHERE s.user_id = ? AND s.capacity_id = ? AND s.ended_at IS NULL
      """
          .formatted(SessionRow.COLUMNS); // registered_session_active (user_id, capacity_id)

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
    var found = database.withConnection(connection -> look(connection, request));
    if (found.isPresent()) {
      return settles(found.get(), request)
          ? new PutOutcome.Existing(found.get())
          : alone(request, kind);
    }
    return groups.put(request).orElseGet(() -> alone(request, kind));
  }

  private static Optional<RegisteredSession> look(Connection connection, SessionRequest request)
      throws SQLException {
    try (var statement = connection.prepareStatement(LOOK)) {
      statement.setObject(1, request.userObjectId());
      statement.setObject(2, request.capacityId());
      try (var rows = statement.executeQuery()) {
        return rows.next() ? Optional.of(SessionRow.read(rows)) : Optional.empty();
      }
    }
  }

  private static boolean settles(RegisteredSession found, SessionRequest request) {
    return found.isActive()
        && found.kind() >= request.kind()
        && found.tenantObjectId().equals(request.tenantObjectId());
  }

  private List<Optional<PutOutcome>> together(List<SessionRequest> requests) {
    try {
      return database.inStatement(connection -> together(connection, requests));
    } catch (KeeperException.Unavailable e) {
      if (e.getCause() instanceof SQLException cause && SqlErrors.isLockTimeout(cause)) {
        throw new GroupPuts.HeldUp(e);
      }
      throw e;
    }
  }

  private List<Optional<PutOutcome>> together(Connection connection, List<SessionRequest> requests)
      throws SQLException {
    var outcomes =
        new ArrayList<Optional<PutOutcome>>(Collections.nCopies(requests.size(), Optional.empty()));
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
