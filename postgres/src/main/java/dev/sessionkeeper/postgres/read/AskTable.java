package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.jdbc.OneRow;
import dev.sessionkeeper.postgres.queue.QueueContext;
import java.sql.ResultSet;
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

  /**
   * Requests that a session is persisted; empty if it has no reader. A request whose answer is lost
   * is repeated: a second request changes nothing.
   */
  Optional<Ask> ask(SessionId session, boolean needsRow) {
    return one(ASK, AskTable::askOf, queue.id(), session.value(), needsRow);
  }

  /**
   * Requests this many sessions, whichever have waited longest. Returns false if no other process
   * reads.
   */
  boolean wantSessions(int count) {
    return one(WANT, row -> row.getBoolean(1), queue.id(), count, queue.node().id());
  }

  /** Asks all readers to stop. Returns false if there are none. */
  boolean stopReaders() {
    return one(STOP, row -> row.getBoolean(1), queue.id());
  }

  /** Returns the last open request; empty if there is none, or no reader. */
  Optional<Ask> last() {
    return one(LAST, AskTable::askOf, queue.id());
  }

  /** Returns the state of a request, and of all earlier ones. */
  Seen look(Ask ask) {
    return one(
        LOOK,
        row -> new Seen(row.getBoolean(1), Instants.optional(row, 2)),
        queue.id(),
        ask.id,
        ask.readerEpoch);
  }

  private <T> T one(String sql, OneRow.Reader<T> reader, Object... parameters) {
    return queue.connections().look(connection -> OneRow.of(connection, sql, reader, parameters));
  }

  private static Optional<Ask> askOf(ResultSet row) throws SQLException {
    long id = row.getLong(1);
    return row.wasNull() ? Optional.empty() : Optional.of(new Ask(id, row.getLong(2)));
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
}
