package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads messages of held lanes that were too much for the statement that claimed or fetched them.
 *
 * <p>The statement locks nothing: a process that stands still while bodies are on their way keeps
 * no session from anybody.
 */
final class LookAtLanes {
  private static final String LOOK =
      "SELECT " + HandedRow.COLUMNS + " FROM keeper.look_lanes(?, ?, ?, ?, ?, ?)";

  private final QueueContext queue;
  private final PrefetchRoom room;

  LookAtLanes(QueueContext queue, PrefetchRoom room) {
    this.queue = queue;
    this.room = room;
  }

  /** A lane that has more, and how many of its messages are wanted at most. */
  record Cut(ClaimedLane lane, int most) {}

  /**
   * Adds to each lane what fits into memory; a lane may get nothing.
   *
   * @param moment when the lanes were found to be held, by the database's clock
   */
  void complete(Collection<Cut> lanes, Instant moment) {
    var cut = lanes.stream().filter(one -> one.lane.isCut()).toList();
    if (cut.isEmpty()) {
      return;
    }
    long askedAt = queue.time().nanoTime();
    long bytes = Math.max(1, room.bytes());
    var found = queue.connections().look(connection -> look(connection, cut, bytes));
    cut.forEach(one -> one.lane.messages.addAll(found.getOrDefault(one.lane.session, List.of())));
    var left = Duration.between(moment, cut.getFirst().lane.lease.until());
    long brought =
        found.values().stream().flatMap(List::stream).mapToLong(FoundMessage::bytes).sum();
    room.took(brought, queue.time().nanoTime() - askedAt, left);
  }

  private Map<SessionId, List<FoundMessage>> look(
      Connection connection, List<Cut> lanes, long mostBytes) throws SQLException {
    try (var statement = BinaryAnswer.prepare(connection, LOOK)) {
      statement.setInt(1, queue.id());
      statement.setArray(
          2,
          SqlArray.of(
              connection,
              "text",
              lanes.stream().map(one -> one.lane.session.value()).toArray(String[]::new)));
      statement.setArray(
          3,
          SqlArray.of(
              connection, "int8", lanes.stream().mapToLong(c -> c.lane.lease.epoch()).toArray()));
      statement.setArray(
          4,
          SqlArray.of(connection, "int8", lanes.stream().mapToLong(c -> c.lane.last()).toArray()));
      statement.setArray(
          5,
          SqlArray.of(
              connection,
              "int4",
              lanes.stream().mapToInt(c -> c.most - c.lane.messages.size()).toArray()));
      statement.setLong(6, mostBytes);
      try (var rows = statement.executeQuery()) {
        var found = new HashMap<SessionId, ClaimedLane>();
        while (rows.next()) {
          if (RowKind.of(rows) == RowKind.SESSION) {
            var session = HandedRow.session(rows);
            var lane = found.get(session);
            if (lane == null) {
              lane = ClaimedLane.of(rows, session);
              found.put(session, lane);
            }
            lane.addMessage(rows);
          }
        }
        var messages = new HashMap<SessionId, List<FoundMessage>>();
        found.forEach((session, lane) -> messages.put(session, lane.messages));
        return messages;
      }
    }
  }
}
