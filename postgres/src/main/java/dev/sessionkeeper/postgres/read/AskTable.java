package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.queue.QueueContext;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Stores session requests of processes to the readers of a queue: one statement for each step. */
public final class AskTable {
  private static final String ASK = "SELECT ask_id, reader_epoch FROM keeper.ask_reader(?, ?, ?)";
  private static final String LAST = "SELECT ask_id, reader_epoch FROM keeper.last_ask(?)";
  private static final String LOOK =
      "SELECT are_answered, reads_until FROM keeper.look_for_answers(?, ?, ?)";
  private static final String OPEN = "SELECT id, session, how_many FROM keeper.look_at_asks(?, ?)";
  private static final String WANT = "SELECT keeper.ask_for_sessions(?, ?, ?)";
  private static final String STOP = "SELECT keeper.stop_readers(?)";

  /** Stands for any session. */
  private static final String ANY = "";

  private final QueueContext queue;

  AskTable(QueueContext queue) {
    this.queue = queue;
  }

  /**
   * A request that was sent.
   *
   * @param readerEpoch the epoch of the reader that was asked
   */
  public record Ask(long id, long readerEpoch) {}

  /**
   * The state of a request.
   *
   * @param readsUntil the end of the lease of the reader that was asked; empty if it has stopped
   */
  public record Seen(boolean isAnswered, Optional<Instant> readsUntil) {}

  /** The open session requests to this process, a reader. */
  public static final class Wishes {
    static final Wishes NONE = new Wishes();

    final List<Long> asks = new ArrayList<>();
    final Set<SessionId> sessions = new LinkedHashSet<>();

    /** Requests for any sessions; their sum is in {@code wanted}. */
    final List<Long> asksForAny = new ArrayList<>();

    int wanted;

    boolean isEmpty() {
      return asks.isEmpty();
    }

    long[] ids() {
      return asks.stream().mapToLong(Long::longValue).toArray();
    }
  }

  /** Requests that a session is persisted; empty if it has no reader. */
  Optional<Ask> ask(SessionId session, boolean needsRow) {
    return first(
        ASK,
        statement -> {
          statement.setInt(1, queue.id());
          statement.setString(2, session.value());
          statement.setBoolean(3, needsRow);
        });
  }

  /**
   * Requests this many sessions, whichever have waited longest. Returns false if no other process
   * reads.
   */
  boolean wantSessions(int count) {
    return is(
        WANT,
        statement -> {
          statement.setInt(1, queue.id());
          statement.setInt(2, count);
          statement.setString(3, queue.node().id());
        });
  }

  /** Asks all readers to stop. Returns false if there are none. */
  boolean stopReaders() {
    return is(STOP, statement -> statement.setInt(1, queue.id()));
  }

  private boolean is(String sql, Parameters parameters) {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = connection.prepareStatement(sql)) {
                parameters.set(statement);
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  return rows.getBoolean(1);
                }
              }
            });
  }

  /** Returns the last open request; empty if there is none, or no reader. */
  Optional<Ask> last() {
    return first(LAST, statement -> statement.setInt(1, queue.id()));
  }

  /** Returns the state of a request, and of all earlier ones. */
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

  /** Returns the open requests to this process, which reads under that epoch. */
  Wishes open(long epoch) {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = connection.prepareStatement(OPEN)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, epoch);
                try (var rows = statement.executeQuery()) {
                  var wishes = new Wishes();
                  while (rows.next()) {
                    var session = rows.getString(2);
                    if (session.equals(ANY)) {
                      wishes.asksForAny.add(rows.getLong(1));
                      wishes.wanted += rows.getInt(3);
                    } else {
                      wishes.asks.add(rows.getLong(1));
                      wishes.sessions.add(SessionId.of(session));
                    }
                  }
                  return wishes;
                }
              }
            });
  }

  /** Sets the parameters of a statement. */
  @FunctionalInterface
  private interface Parameters {
    void set(PreparedStatement statement) throws SQLException;
  }

  /** Sends a request, and repeats it if the answer is lost: a second request changes nothing. */
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
