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
import java.util.UUID;

/**
 * Executes a PUT. First reads without a lock. If there is no session, creates one in a batch with
 * other requests; otherwise calls {@code keeper.put_session}.
 *
 * <p>Without the row's lock only two answers are given. {@code existing}: the session was
 * committed, is of the right tenant, of a sufficient kind, and not expired at the time of the read.
 * {@code created}: the unique index decides. Reads are not batched, because they need no commit.
 */
final class PutSession {
  private static final String LOOK =
      """
      SELECT %s
        FROM keeper.registered_session s
       WHERE s.user_id = ? AND s.capacity_id = ? AND s.ended_at IS NULL
      """
          .formatted(SessionRow.COLUMNS); // registered_session_active (user_id, capacity_id)

  private static final String BEGIN_TOGETHER =
      """
      SELECT place, began, starts_at, ends_at
        FROM keeper.begin_sessions(?, ?, ?, ?, ?, ?, ? * interval '1 microsecond')
      """; // registered_session_active (user_id, capacity_id)

  private static final String PUT =
      """
      SELECT p.status, %s
        FROM keeper.put_session(?, ?, ?, ?, ?, ?, ? * interval '1 microsecond') p,
             LATERAL (SELECT (p.s).*) s
      """
          .formatted(SessionRow.COLUMNS);

  private static final int MOST_TRIES = 3;

  private final Database database;
  private final RegistryOptions options;
  private final BatchPuts groups = new BatchPuts(this::together);

  PutSession(Database database, RegistryOptions options) {
    this.database = database;
    this.options = options;
  }

  /**
   * Executes the PUT, and repeats it if the answer was lost: the repetition finds the session that
   * the first attempt created.
   */
  PutOutcome put(SessionRequest request) {
    return Database.untilKnown(MOST_TRIES, () -> tryToPut(request));
  }

  private PutOutcome tryToPut(SessionRequest request) {
    var kind = options.kind(request.kind());
    var found = look(request);
    if (found.isEmpty()) {
      var begun = groups.begin(request);
      if (begun.isPresent()) {
        return new PutOutcome.Created(begun.get());
      }
      found = look(request);
    }
    return found
        .filter(session -> settles(session, request))
        .<PutOutcome>map(PutOutcome.Existing::new)
        .orElseGet(() -> alone(request, kind));
  }

  private Optional<RegisteredSession> look(SessionRequest request) {
    return database.withConnection(connection -> look(connection, request));
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

  private List<Optional<RegisteredSession>> together(List<SessionRequest> requests) {
    try {
      return database.inStatement(connection -> together(connection, requests));
    } catch (KeeperException.Unavailable e) {
      if (e.getCause() instanceof SQLException cause && SqlErrors.isLockTimeout(cause)) {
        throw new BatchPuts.HeldUp(e);
      }
      throw e;
    }
  }

  private List<Optional<RegisteredSession>> together(
      Connection connection, List<SessionRequest> requests) throws SQLException {
    var begun =
        new ArrayList<Optional<RegisteredSession>>(
            Collections.nCopies(requests.size(), Optional.empty()));
    try (var statement = connection.prepareStatement(BEGIN_TOGETHER)) {
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
          int place = rows.getInt(1) - 1;
          begun.set(place, Optional.of(begun(requests.get(place), rows)));
        }
      }
    }
    return begun;
  }

  private static RegisteredSession begun(SessionRequest request, ResultSet rows)
      throws SQLException {
    return new RegisteredSession(
        rows.getObject(2, UUID.class),
        request.userObjectId(),
        request.tenantObjectId(),
        request.capacityId(),
        request.kind(),
        SessionRow.instant(rows, 3),
        SessionRow.instant(rows, 4),
        true);
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
              return outcome(rows);
            }
          }
        });
  }

  private static PutOutcome outcome(ResultSet rows) throws SQLException {
    return switch (rows.getString(1)) {
      case "created" -> new PutOutcome.Created(SessionRow.read(rows, 2));
      case "existing" -> new PutOutcome.Existing(SessionRow.read(rows, 2));
      case "upgraded" -> new PutOutcome.Upgraded(SessionRow.read(rows, 2));
      case "tenant-mismatch" -> new PutOutcome.TenantMismatch();
      case String other -> throw new IllegalStateException("put_session answered " + other);
    };
  }
}
