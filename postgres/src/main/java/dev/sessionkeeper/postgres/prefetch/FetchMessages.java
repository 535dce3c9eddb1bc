package dev.sessionkeeper.postgres.prefetch;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.BinaryResults;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.ClaimedSession;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.postgres.row.HandedRow;
import dev.sessionkeeper.postgres.row.RowKind;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;

/**
 * Fetches the next messages of held sessions. Fetches that come at the same time share a statement.
 */
public final class FetchMessages {
  private static final String FETCH =
      "SELECT " + HandedRow.COLUMNS + " FROM keeper.fetch_lanes(?, ?, ?, ?)";

  private static final Duration PACE = Duration.ofNanos(500_000);

  private final QueueContext queue;
  private final ReadLargePayloads rest;
  private final AtomicInteger waiting = new AtomicInteger();
  private final GroupCalls<Call> group;

  /**
   * Creates the batcher of fetches.
   *
   * @param isDue returns whether a batch with this number of sessions must leave now, without
   *     waiting for further sessions
   */
  public FetchMessages(QueueContext queue, PrefetchRoom room, IntPredicate isDue) {
    this.queue = queue;
    this.rest = new ReadLargePayloads(queue, room);
    this.group =
        new GroupCalls<>(
            "keeper-fetch-" + queue.name(),
            256,
            Rhythm.apart(queue.time(), PACE, () -> isDue.test(waiting.get()), () -> false),
            this::fetchAll);
  }

  private record Call(
      SessionId session, long epoch, int most, CompletableFuture<FetchAnswer> answer) {}

  /**
   * The answer to a fetch.
   *
   * @param isHeld whether the lease is still held
   * @param mayHaveMore whether not all messages fitted
   * @param moment the database's time of the answer
   * @param until the end of the lease at that time
   */
  public record FetchAnswer(
      boolean isHeld,
      List<FoundMessage> messages,
      boolean mayHaveMore,
      Instant moment,
      Instant until) {}

  public CompletableFuture<FetchAnswer> fetch(SessionId session, long epoch, int most) {
    var call = new Call(session, epoch, most, new CompletableFuture<>());
    waiting.incrementAndGet();
    group.add(call);
    return call.answer;
  }

  private void fetchAll(List<Call> calls) {
    waiting.addAndGet(-calls.size());
    try {
      var found = queue.connections().call(connection -> fetchAll(connection, calls));
      completeCut(calls, found);
      for (var call : calls) {
        var claimed = found.sessions.get(new Key(call.session, call.epoch));
        call.answer.complete(
            new FetchAnswer(
                claimed != null,
                claimed == null ? List.of() : claimed.messages,
                claimed != null && claimed.isCut(),
                found.moment,
                claimed == null ? found.moment : claimed.lease.until()));
      }
    } catch (RuntimeException e) {
      calls.forEach(call -> call.answer.completeExceptionally(e));
    }
  }

  /** Reads messages that were too large for a statement with locks. */
  private void completeCut(List<Call> calls, Answer found) {
    var cut = new ArrayList<ReadLargePayloads.Cut>();
    for (var call : calls) {
      var claimed = found.sessions.get(new Key(call.session, call.epoch));
      if (claimed != null && claimed.isCut()) {
        cut.add(new ReadLargePayloads.Cut(claimed, call.most));
      }
    }
    rest.complete(cut, found.moment);
  }

  private record Key(SessionId session, long epoch) {}

  private static final class Answer {
    private final Map<Key, ClaimedSession> sessions = new HashMap<>();
    private Instant moment = Instant.EPOCH;
  }

  private Answer fetchAll(Connection connection, List<Call> unsorted) throws SQLException {
    var calls = unsorted.stream().sorted(Comparator.comparing(Call::session)).toList();
    try (var statement = BinaryResults.prepare(connection, FETCH)) {
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
            var claimed = answer.sessions.get(key);
            if (claimed == null) {
              claimed = ClaimedSession.of(rows, session);
              answer.sessions.put(key, claimed);
            }
            claimed.addMessage(rows);
          } else if (kind == RowKind.SUMMARY) {
            answer.moment = HandedRow.until(rows);
          }
        }
        return answer;
      }
    }
  }
}
