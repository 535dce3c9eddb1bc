package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.UnpackBatches;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.ClaimedSession;
import dev.sessionkeeper.postgres.row.StoredCodes;
import dev.sessionkeeper.spi.AcceptResult;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

/** Accepts a session by its name. */
public final class AcceptByName {
  private static final String ACCEPT =
      """
      SELECT outcome, new_epoch, until_at, aside_status, why, since_at, clock_timestamp()
        FROM keeper.accept_lane(?, ?, ?, ?, ?)
      """;

  private final HoldParts parts;
  private final OwnedSessions owned;
  private final QueueContext queue;

  public AcceptByName(HoldParts parts, OwnedSessions owned) {
    this.parts = parts;
    this.owned = owned;
    this.queue = parts.queue();
  }

  public AcceptResult accept(SessionId session, Owner owner) {
    var result = tryAccept(session, owner);
    // Its messages may be in a batch that no poll has looked through.
    return result instanceof AcceptResult.NoSession && new UnpackBatches(queue).of(session)
        ? tryAccept(session, owner)
        : result;
  }

  private AcceptResult tryAccept(SessionId session, Owner owner) {
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
                  return result(session, owner, rows, askedAt);
                }
              }
            });
  }

  private AcceptResult result(SessionId session, Owner owner, ResultSet row, long askedAt)
      throws SQLException {
    return switch (row.getString(1)) {
      case "held" -> {
        var lease = new Lease(session.value(), owner, row.getLong(2), Instants.of(row, 3));
        yield new AcceptResult.Accepted(hold(session, lease, Instants.of(row, 7), askedAt));
      }
      case "locked" -> new AcceptResult.Locked(Instants.of(row, 3));
      case "aside" ->
          new AcceptResult.SetAside(
              StoredCodes.status(row.getInt(4)), row.getString(5), Instants.of(row, 6));
      default -> new AcceptResult.NoSession();
    };
  }

  private OwnedSession hold(SessionId session, Lease lease, Instant moment, long askedAt) {
    var held =
        OwnedSession.accepted(parts, owned, new ClaimedSession(session, lease), moment, askedAt);
    owned.add(held);
    return held;
  }
}
