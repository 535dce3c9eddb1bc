package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.SessionNews;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Writes rows for sessions that existed only in memory, so that every process can work with them.
 */
public final class PersistSessions {
  private static final String PERSIST =
      "SELECT of_session, held_until, news_for, of_epoch, of_buckets, known_to FROM keeper.write_down(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

  private final QueueContext queue;

  PersistSessions(QueueContext queue) {
    this.queue = queue;
  }

  /**
   * A session to persist.
   *
   * @param epoch zero without an owner
   * @param head the position among waiting sessions, or zero if its row must be checked; with an
   *     owner, the last message that was handed out
   */
  public record Row(SessionId session, long epoch, String owner, Duration left, long head) {
    /** Returns the row of a session as it is now. */
    static Row of(CachedSession session, long now) {
      var holder = session.holder;
      if (holder == null) {
        long place = session.mustCheckRow ? 0 : session.place;
        return new Row(session.id, 0, "", Duration.ZERO, place);
      }
      var hold = holder.snapshot(now);
      return new Row(hold.session(), hold.epoch(), hold.owner(), hold.left(), hold.lastHandedOut());
    }
  }

  /**
   * The content of one statement.
   *
   * @param epoch of the reader
   * @param batches the batches that have messages of these sessions in memory
   * @param wishes the session requests that the statement answers
   * @param given the sessions for a process that has requested any
   * @param ending whether the reading ends
   */
  public record Request(
      long epoch,
      List<Row> rows,
      long[] batches,
      AskTable.Wishes wishes,
      List<SessionId> given,
      Ending ending) {}

  /**
   * The end of a reading, if it ends with this statement.
   *
   * @param known at the end, the snapshot up to which a later reader has nothing to find
   */
  public record Ending(End end, Optional<String> known) {}

  /** The ways in which a reading ends. */
  public enum End {
    NONE(0),
    /** This process stops for a while. */
    STOPS(1),
    /** The process continues with other buckets. */
    MOVES(2);

    /** The number that the function expects. */
    private final int code;

    End(int code) {
      this.code = code;
    }
  }

  /**
   * The result of the statement.
   *
   * @param leaseEnds when the leases of held sessions end
   * @param news sessions with rows that have more messages now
   * @param next the new assignment of a reader that continues with other buckets; one at most
   */
  public record Result(
      Map<SessionId, Instant> leaseEnds, List<SessionNews> news, List<BucketAssignment> next) {
    /** Adds a row. Returns whether the row is about a session; the last one is not. */
    private boolean add(ResultSet row, Duration lease) throws SQLException {
      if (row.getString(1) == null) {
        long epoch = row.getLong(4);
        if (!row.wasNull()) {
          next.add(new BucketAssignment(epoch, row.getLong(5), row.getString(6), lease));
        }
        return false;
      }
      var session = SessionId.of(row.getString(1));
      if (row.getString(3) == null) {
        leaseEnds.put(session, Instants.of(row, 2));
      } else {
        news.add(new SessionNews(session, row.getLong(4), row.getString(3)));
      }
      return true;
    }
  }

  /**
   * Persists sessions.
   *
   * @return empty if this process is no reader any more; then nothing was written
   */
  Optional<Result> persist(Request request, Duration lease) {
    var sessions = request.rows;
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(PERSIST)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, request.epoch);
                statement.setString(3, queue.node().id());
                statement.setArray(
                    4,
                    SqlArray.of(
                        connection,
                        "text",
                        sessions.stream().map(row -> row.session.value()).toArray(String[]::new)));
                statement.setArray(
                    5,
                    SqlArray.of(
                        connection, "int8", sessions.stream().mapToLong(Row::epoch).toArray()));
                statement.setArray(
                    6,
                    SqlArray.of(
                        connection,
                        "text",
                        sessions.stream().map(Row::owner).toArray(String[]::new)));
                statement.setArray(
                    7,
                    SqlArray.of(
                        connection,
                        "int8",
                        sessions.stream().mapToLong(row -> row.left.toNanos() / 1000).toArray()));
                statement.setArray(
                    8,
                    SqlArray.of(
                        connection, "int8", sessions.stream().mapToLong(Row::head).toArray()));
                statement.setArray(9, SqlArray.of(connection, "int8", request.batches));
                statement.setArray(10, SqlArray.of(connection, "int8", request.wishes.ids()));
                statement.setArray(
                    11,
                    SqlArray.of(
                        connection,
                        "text",
                        request.wishes.sessions.stream()
                            .map(SessionId::value)
                            .toArray(String[]::new)));
                statement.setArray(
                    12,
                    SqlArray.of(
                        connection,
                        "text",
                        request.given.stream().map(SessionId::value).toArray(String[]::new)));
                statement.setInt(13, request.ending.end.code);
                statement.setString(14, request.ending.known.orElse(null));
                statement.setLong(15, queue.node().shard());
                try (var rows = statement.executeQuery()) {
                  var written = new Result(new HashMap<>(), new ArrayList<>(), new ArrayList<>());
                  boolean isReader = false;
                  while (rows.next()) {
                    isReader |= !written.add(rows, lease);
                  }
                  return isReader ? Optional.of(written) : Optional.empty();
                }
              }
            });
  }
}
