package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

/** Locks one chosen session. */
final class AcceptByName {
  private static final String ACCEPT =
      """
      SELECT outcome, new_epoch, until_at, aside_status, why, since_at, clock_timestamp()
        FROM keeper.accept_lane(?, ?, ?, ?, ?)
      """;

  private static final String UNTIE = "SELECT keeper.untie_session(?, ?)";

  private AcceptByName() {}

  static AcceptResult accept(OrderedQueue queue, SessionId session, Owner owner) {
    var result = tryAccept(queue, session, owner);
    // It may be in a pile that has not been looked through.
    return result instanceof AcceptResult.NoSession && untie(queue, session)
        ? tryAccept(queue, session, owner)
        : result;
  }

  /** Looks through what is left of a pile for messages of a session; whether there were any. */
  static boolean untie(OrderedQueue queue, SessionId session) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(UNTIE)) {
                statement.setInt(1, queue.id());
                statement.setString(2, session.value());
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  return rows.getBoolean(1);
                }
              }
            });
  }

  private static AcceptResult tryAccept(OrderedQueue queue, SessionId session, Owner owner) {
    long askedAt = queue.time().nanoTime();
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(ACCEPT)) {
                statement.setInt(1, queue.id());
                statement.setString(2, session.value());
                statement.setString(3, owner.name());
                statement.setString(4, queue.node().id());
                statement.setLong(5, queue.node().shard());
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  return result(queue, session, owner, rows, askedAt);
                }
              }
            });
  }

  private static AcceptResult result(
      OrderedQueue queue, SessionId session, Owner owner, ResultSet row, long askedAt)
      throws SQLException {
    return switch (row.getString(1)) {
      case "held" -> {
        var lease = new Lease(session.value(), owner, row.getLong(2), HandedRow.instant(row, 3));
        yield new AcceptResult.Accepted(
            hold(queue, session, lease, HandedRow.instant(row, 7), askedAt));
      }
      case "locked" -> new AcceptResult.Locked(HandedRow.instant(row, 3));
      case "aside" ->
          new AcceptResult.SetAside(
              Codes.status(row.getInt(4)), row.getString(5), HandedRow.instant(row, 6));
      default -> new AcceptResult.NoSession();
    };
  }

  private static HeldLane hold(
      OrderedQueue queue, SessionId session, Lease lease, Instant moment, long askedAt) {
    var lane = new HeldLane(queue, new ClaimedLane(session, lease), moment, askedAt, 0);
    queue.hold(lane);
    return lane;
  }
}
