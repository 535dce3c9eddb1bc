package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.store.GroupCalls;
import dev.sessionkeeper.store.Rhythm;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Brings the next messages of held lanes; those that are asked for at the same time together. */
final class FetchMessages {
  private static final String FETCH =
      "SELECT " + HandedRow.COLUMNS + " FROM keeper.fetch_lanes(?, ?, ?, ?)";

  private static final Duration PACE = Duration.ofNanos(500_000);

  private final QueueContext queue;
  private final LookAtLanes rest;
  private final GroupCalls<Call> group;

  FetchMessages(QueueContext queue, PrefetchRoom room) {
    this.queue = queue;
    this.rest = new LookAtLanes(queue, room);
    this.group =
        new GroupCalls<>(
            "keeper-fetch-" + queue.name(), 256, Rhythm.apart(queue.time(), PACE), this::fetchAll);
  }

  private record Call(SessionId session, long epoch, int most, CompletableFuture<Fetched> answer) {}

  /**
   * What there is.
   *
   * @param isHeld whether the lease is still held
   * @param mayHaveMore whether not all of them fitted
   */
  record Fetched(
      boolean isHeld, List<FoundMessage> messages, boolean mayHaveMore, Instant moment) {}

  CompletableFuture<Fetched> fetch(SessionId session, long epoch, int most) {
    var call = new Call(session, epoch, most, new CompletableFuture<>());
    group.add(call);
    return call.answer;
  }

  private void fetchAll(List<Call> calls) {
    try {
      var found = queue.connections().call(connection -> fetchAll(connection, calls));
      completeCut(calls, found);
      for (var call : calls) {
        var lane = found.lanes.get(new Key(call.session, call.epoch));
        call.answer.complete(
            new Fetched(
                lane != null,
                lane == null ? List.of() : lane.messages,
                lane != null && lane.isCut(),
                found.moment));
      }
    } catch (RuntimeException e) {
      calls.forEach(call -> call.answer.completeExceptionally(e));
    }
  }

  /** Reads what was too much for a statement with locks. */
  private void completeCut(List<Call> calls, Answer found) {
    var cut = new ArrayList<LookAtLanes.Cut>();
    for (var call : calls) {
      var lane = found.lanes.get(new Key(call.session, call.epoch));
      if (lane != null && lane.isCut()) {
        cut.add(new LookAtLanes.Cut(lane, call.most));
      }
    }
    rest.complete(cut, found.moment);
  }

  private record Key(SessionId session, long epoch) {}

  private static final class Answer {
    private final Map<Key, ClaimedLane> lanes = new HashMap<>();
    private Instant moment = Instant.EPOCH;
  }

  private Answer fetchAll(Connection connection, List<Call> unsorted) throws SQLException {
    var calls = unsorted.stream().sorted(Comparator.comparing(Call::session)).toList();
    try (var statement = BinaryAnswer.prepare(connection, FETCH)) {
      statement.setInt(1, queue.id());
      statement.setArray(
          2,
          SqlArray.of(
              connection,
              "text",
              calls.stream().map(c -> c.session.value()).toArray(String[]::new)));
      statement.setArray(
          3, SqlArray.of(connection, "int8", calls.stream().mapToLong(Call::epoch).toArray()));
      statement.setArray(
          4, SqlArray.of(connection, "int4", calls.stream().mapToInt(Call::most).toArray()));
      try (var rows = statement.executeQuery()) {
        var answer = new Answer();
        while (rows.next()) {
          var kind = RowKind.of(rows);
          if (kind == RowKind.SESSION) {
            var session = HandedRow.session(rows);
            var key = new Key(session, HandedRow.epoch(rows));
            var lane = answer.lanes.get(key);
            if (lane == null) {
              lane = ClaimedLane.of(rows, session);
              answer.lanes.put(key, lane);
            }
            lane.addMessage(rows);
          } else if (kind == RowKind.SUMMARY) {
            answer.moment = HandedRow.until(rows);
          }
        }
        return answer;
      }
    }
  }
}
