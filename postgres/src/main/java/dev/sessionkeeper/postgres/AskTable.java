package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.store.Database;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What processes ask of the one that reads a queue alone, in the database: one statement for each
 * step.
 */
final class AskTable {
  private static final String ASK = "SELECT ask_id, reader_epoch FROM keeper.ask_reader(?, ?, ?)";
  private static final String LAST = "SELECT ask_id, reader_epoch FROM keeper.last_ask(?)";
  private static final String LOOK =
      "SELECT are_answered, reads_until FROM keeper.look_for_answers(?, ?, ?)";
  private static final String OPEN = "SELECT id, session, node, wants FROM keeper.look_at_asks(?)";
  private static final String BE_GUEST = "SELECT keeper.be_guest(?, ?, ?)";
  private static final String SERVE_GUESTS = "SELECT keeper.serve_guests(?, ?)";

  /** In place of a session: the reader is to stop. */
  private static final String STOP = "";

  private final OrderedQueue queue;

  AskTable(OrderedQueue queue) {
    this.queue = queue;
  }

  /**
   * An ask on its way.
   *
   * @param readerEpoch of the reader that is asked
   */
  record Ask(long id, long readerEpoch) {}

  /**
   * What has become of an ask.
   *
   * @param readsUntil the end of the lease of the reader that was asked; empty when it reads no
   *     more
   */
  record Seen(boolean isAnswered, Optional<Instant> readsUntil) {}

  /** What others want of this process, which reads the queue. */
  static final class Wishes {
    static final Wishes NONE = new Wishes();

    final List<Long> asks = new ArrayList<>();
    final Set<SessionId> sessions = new LinkedHashSet<>();

    /** Processes that wait for sessions, and how many each can take. */
    final Map<String, Integer> guests = new HashMap<>();

    boolean isStop;

    long[] ids() {
      return asks.stream().mapToLong(Long::longValue).toArray();
    }
  }

  /** Asks for a lane of the session; empty when no process reads this queue alone. */
  Optional<Ask> ask(SessionId session, boolean needsLane) {
    return ask(session.value(), needsLane);
  }

  /** Asks the reader to stop; empty when there is none. */
  Optional<Ask> askToStop() {
    return ask(STOP, false);
  }

  private Optional<Ask> ask(String session, boolean needsLane) {
    return first(
        ASK,
        statement -> {
          statement.setInt(1, queue.id());
          statement.setString(2, session);
          statement.setBoolean(3, needsLane);
        });
  }

  /** The last of the asks that are open; empty when there is none, or no reader. */
  Optional<Ask> last() {
    return first(LAST, statement -> statement.setInt(1, queue.id()));
  }

  /** Returns what has become of an ask, and of all before it. */
  Seen look(Ask ask) {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = connection.prepareStatement(LOOK)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, ask.id);
                statement.setLong(3, ask.readerEpoch);
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  boolean isAnswered = rows.getBoolean(1);
                  var until = Optional.ofNullable(rows.getTimestamp(2)).map(t -> t.toInstant());
                  return new Seen(isAnswered, until);
                }
              }
            });
  }

  /** Reads what others want of this process. */
  Wishes open() {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = connection.prepareStatement(OPEN)) {
                statement.setInt(1, queue.id());
                try (var rows = statement.executeQuery()) {
                  var wishes = new Wishes();
                  while (rows.next()) {
                    var guest = rows.getString(3);
                    if (guest != null) {
                      wishes.guests.put(guest, rows.getInt(4));
                    } else {
                      wishes.asks.add(rows.getLong(1));
                      var session = rows.getString(2);
                      if (session.equals(STOP)) {
                        wishes.isStop = true;
                      } else {
                        wishes.sessions.add(SessionId.of(session));
                      }
                    }
                  }
                  wishes.guests.remove(queue.node().id());
                  return wishes;
                }
              }
            });
  }

  /** Tells the reader how many sessions this process can take. */
  void beGuest(int wants) {
    run(
        connection -> {
          try (var statement = connection.prepareStatement(BE_GUEST)) {
            statement.setInt(1, queue.id());
            statement.setString(2, queue.node().id());
            statement.setInt(3, wants);
            return statement.execute();
          }
        });
  }

  /** These guests have got sessions; they tell when they want more. */
  void served(Collection<String> guests) {
    run(
        connection -> {
          try (var statement = connection.prepareStatement(SERVE_GUESTS)) {
            statement.setInt(1, queue.id());
            statement.setArray(2, SqlArray.of(connection, "text", guests.toArray(String[]::new)));
            return statement.execute();
          }
        });
  }

  private void run(Database.Work<Boolean> work) {
    var unused = queue.connections().look(work); // Done twice it is the same.
  }

  /** Sets the parameters of a statement. */
  @FunctionalInterface
  private interface Parameters {
    void set(PreparedStatement statement) throws SQLException;
  }

  /** An ask that was lost on its way is repeated; asked twice it is the same. */
  private Optional<Ask> first(String sql, Parameters parameters) {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = connection.prepareStatement(sql)) {
                parameters.set(statement);
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  long id = rows.getLong(1);
                  return rows.wasNull()
                      ? Optional.empty()
                      : Optional.of(new Ask(id, rows.getLong(2)));
                }
              }
            });
  }
}
