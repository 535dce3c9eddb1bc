package dev.sessionkeeper.postgres.prefetch;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.BinaryResults;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.ClaimedSession;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.postgres.row.HandedRow;
import dev.sessionkeeper.postgres.row.RowKind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads messages of held sessions that were too large for the statement that claimed or fetched
 * them.
 *
 * <p>The statement locks nothing, so a process that freezes while payloads are on their way blocks
 * no other process.
 */
public final class ReadLargePayloads {
  private static final String LOOK =
      "SELECT " + HandedRow.COLUMNS + " FROM keeper.look_lanes(?, ?, ?, ?, ?, ?)";

  private final QueueContext queue;
  private final PrefetchRoom room;

  public ReadLargePayloads(QueueContext queue, PrefetchRoom room) {
    this.queue = queue;
    this.room = room;
  }

  /** A session that has more messages, and how many of them are wanted at most. */
  public record Cut(ClaimedSession claimed, int most) {}

  /**
   * Adds the messages that fit into memory to each session; a session may get none.
   *
   * @param moment when the sessions were known to be held, by the database's clock
   */
  public void complete(Collection<Cut> sessions, Instant moment) {
    var cut = sessions.stream().filter(one -> one.claimed.isCut()).toList();
    if (cut.isEmpty()) {
      return;
    }
    long askedAt = queue.time().nanoTime();
    long bytes = Math.max(1, room.bytes());
    var found = queue.connections().look(connection -> look(connection, cut, bytes));
    cut.forEach(
        one -> one.claimed.messages.addAll(found.getOrDefault(one.claimed.session, List.of())));
    var left = Duration.between(moment, cut.getFirst().claimed.lease.until());
    long brought =
        found.values().stream().flatMap(List::stream).mapToLong(FoundMessage::bytes).sum();
    room.took(brought, queue.time().nanoTime() - askedAt, left);
  }

  private Map<SessionId, List<FoundMessage>> look(
      Connection connection, List<Cut> sessions, long mostBytes) throws SQLException {
    try (var statement = BinaryResults.prepare(connection, LOOK)) {
      statement.setInt(1, queue.id());
      statement.setArray(
          2,
          SqlArray.of(
              connection,
              "text",
              sessions.stream().map(one -> one.claimed.session.value()).toArray(String[]::new)));
      statement.setArray(
          3,
          SqlArray.of(
              connection,
              "int8",
              sessions.stream().mapToLong(c -> c.claimed.lease.epoch()).toArray()));
      statement.setArray(
          4,
          SqlArray.of(
              connection, "int8", sessions.stream().mapToLong(c -> c.claimed.last()).toArray()));
      statement.setArray(
          5,
          SqlArray.of(
              connection,
              "int4",
              sessions.stream().mapToInt(c -> c.most - c.claimed.messages.size()).toArray()));
      statement.setLong(6, mostBytes);
      try (var rows = statement.executeQuery()) {
        var found = new HashMap<SessionId, ClaimedSession>();
        while (rows.next()) {
          if (RowKind.of(rows) == RowKind.SESSION) {
            var session = HandedRow.session(rows);
            var claimed = found.get(session);
            if (claimed == null) {
              claimed = ClaimedSession.of(rows, session);
              found.put(session, claimed);
            }
            claimed.addMessage(rows);
          }
        }
        var messages = new HashMap<SessionId, List<FoundMessage>>();
        found.forEach((session, claimed) -> messages.put(session, claimed.messages));
        return messages;
      }
    }
  }
}
