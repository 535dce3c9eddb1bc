package dev.sessionkeeper.postgres.operate;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.AlsoWrite;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.DeadLetterRow;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The dead letters of one queue, oldest first. */
public final class DeadLetterTable {
  // Also returns the first dead letter that no longer fits, to show that another page follows.
  private static final String PAGE =
      """
      SELECT <columns>
        FROM (SELECT *, sum(octet_length(body) + COALESCE(octet_length(properties), 0)) OVER before_it AS before
                FROM (SELECT * FROM keeper.dead_letter WHERE queue = ?<condition> AND id > ? ORDER BY id LIMIT ?) candidate
              WINDOW before_it AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) letter
       WHERE COALESCE(before, 0) <= ?
       ORDER BY id
      """; // dead_letter_queue (queue, id), dead_letter_session (queue, session, id)
  private static final String OF_QUEUE = page("");
  private static final String OF_SESSION = page(" AND session = ?");
  private static final String REPLAY = "SELECT keeper.replay(?, ?, ?)";
  private static final String DISCARD =
      """
      WITH gone AS (DELETE FROM keeper.dead_letter WHERE queue = ? AND id = ? RETURNING 1)
      SELECT keeper.add_to_tally(?, ?, 0, 0, -1) FROM gone
      """; // dead_letter_pkey (id)

  /** The most dead letters that one transaction replays. */
  private static final int CHUNK = 1000;

  private final QueueContext queue;

  public DeadLetterTable(QueueContext queue) {
    this.queue = queue;
  }

  private static String page(String condition) {
    return PAGE.replace("<columns>", DeadLetterRow.COLUMNS).replace("<condition>", condition);
  }

  public Page<DeadLetter> page(Optional<SessionId> session, Page.Request request) {
    var list = "dead-letters/" + queue.name();
    long behind = request.cursor().map(cursor -> PageCursor.numberOf(list, cursor)).orElse(0L);
    var found = queue.connections().look(connection -> read(connection, session, behind, request));
    return Page.of(
        found,
        request,
        letter -> letter.message().size(),
        letter -> PageCursor.after(list, letter.id()));
  }

  private List<DeadLetter> read(
      Connection connection, Optional<SessionId> session, long behind, Page.Request request)
      throws SQLException {
    try (var statement = connection.prepareStatement(session.isPresent() ? OF_SESSION : OF_QUEUE)) {
      int at = 1;
      statement.setInt(at++, queue.id());
      if (session.isPresent()) {
        statement.setString(at++, session.get().value());
      }
      statement.setLong(at++, behind);
      statement.setInt(at++, request.limit() + 1);
      statement.setLong(at, request.maxBytes());
      try (var rows = statement.executeQuery()) {
        var letters = new ArrayList<DeadLetter>();
        while (rows.next()) {
          letters.add(DeadLetterRow.of(rows));
        }
        return letters;
      }
    }
  }

  /** Returns one dead letter; empty if there is none with this id. */
  public Optional<DeadLetter> find(String id) {
    if (!DeadLetterRow.isId(id)) {
      return Optional.empty();
    }
    return queue
        .connections()
        .look(
            connection ->
                read(connection, Optional.empty(), Long.parseLong(id) - 1, Page.Request.first(1)))
        .stream()
        .filter(letter -> letter.id().equals(id))
        .findFirst();
  }

  /** Counts in the database, without reading the dead letters. */
  public int count(Selection selection) {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = select(connection, selection, "SELECT count(*)", "");
                  var rows = statement.executeQuery()) {
                rows.next();
                return Math.toIntExact(rows.getLong(1));
              }
            });
  }

  /** Replays dead letters in the order in which they were sent, each only once (D-03). */
  public int replay(Selection selection, AlsoWrite alsoWrite) {
    var ids = select(selection);
    int replayed = 0;
    for (int from = 0; from < ids.length; from += CHUNK) {
      var chunk = Arrays.copyOfRange(ids, from, Math.min(ids.length, from + CHUNK));
      replayed +=
          inTransaction(
              connection -> {
                int count = replay(connection, chunk);
                alsoWrite.write(connection, count);
                return count;
              });
    }
    return replayed;
  }

  private int replay(Connection connection, long[] ids) throws SQLException {
    try (var statement = connection.prepareStatement(REPLAY)) {
      statement.setInt(1, queue.id());
      statement.setArray(2, SqlArray.of(connection, "int8", ids));
      statement.setLong(3, queue.node().shard());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getInt(1);
      }
    }
  }

  private <T> T inTransaction(Database.Work<T> work) {
    return Database.of(queue.connections().source()).inTransaction(work);
  }

  private long[] select(Selection selection) {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = select(connection, selection, "SELECT id", " ORDER BY seq");
                  var rows = statement.executeQuery()) {
                var ids = new ArrayList<Long>();
                while (rows.next()) {
                  ids.add(rows.getLong(1));
                }
                return ids.stream().mapToLong(Long::longValue).toArray();
              }
            });
  }

  private PreparedStatement select(
      Connection connection, Selection selection, String columns, String order)
      throws SQLException {
    return switch (selection) {
      case Selection.All all -> prepare(connection, columns, "TRUE", order);
      case Selection.OfSession one -> {
        var statement = prepare(connection, columns, "session = ?", order);
        statement.setString(2, one.session().value());
        yield statement;
      }
      case Selection.OfMessages some -> {
        var statement = prepare(connection, columns, "message_id = ANY (?)", order);
        statement.setArray(
            2,
            SqlArray.of(
                connection,
                "text",
                some.ids().stream().map(id -> id.value()).toArray(String[]::new)));
        yield statement;
      }
    };
  }

  private PreparedStatement prepare(
      Connection connection, String columns, String condition, String order) throws SQLException {
    var statement =
        connection.prepareStatement(
            columns + " FROM keeper.dead_letter WHERE queue = ? AND " + condition + order);
    statement.setInt(1, queue.id());
    return statement;
  }

  public boolean discard(String id, AlsoWrite alsoWrite) {
    if (!DeadLetterRow.isId(id)) {
      return false;
    }
    return inTransaction(
        connection -> {
          boolean isGone = discard(connection, Long.parseLong(id));
          if (isGone) {
            alsoWrite.write(connection, 1);
          }
          return isGone;
        });
  }

  private boolean discard(Connection connection, long id) throws SQLException {
    try (var statement = connection.prepareStatement(DISCARD)) {
      statement.setInt(1, queue.id());
      statement.setLong(2, id);
      statement.setInt(3, queue.id());
      statement.setLong(4, queue.node().shard());
      try (var rows = statement.executeQuery()) {
        return rows.next();
      }
    }
  }
}
