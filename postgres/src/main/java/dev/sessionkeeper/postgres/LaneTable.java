package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The lanes of a queue: finds new messages, claims lanes, and makes those ready that are late. */
final class LaneTable {
  private static final String CLAIM =
      "SELECT " + HandedRow.COLUMNS + " FROM keeper.claim_lanes(?, ?, ?, ?, ?)";
  private static final String WAKE = "SELECT woken, next_us FROM keeper.wake_lanes(?, ?)";

  /** As many as the statement wakes at once. */
  private static final int MOST_WOKEN = 500;

  private static final long LOOK_FROM_START_NANOS = Duration.ofMillis(100).toNanos();

  private final OrderedQueue queue;
  private final TimeSource time;
  private final LookAtLanes rest;
  private long lineBegins;
  private long lookedFromTheStart;

  LaneTable(OrderedQueue queue) {
    this.queue = queue;
    this.time = queue.time();
    this.rest = new LookAtLanes(queue);
    this.lookedFromTheStart = time.nanoTime() - LOOK_FROM_START_NANOS;
  }

  /** Discovers, and claims as many lanes as there are waiters. */
  Result claim(List<Acceptor> waiting, int batch) {
    var result = queue.connections().call(connection -> claim(connection, waiting, batch));
    lineBegins = result.lineBegins;
    rest.complete(
        result.lanes.values().stream().map(lane -> new LookAtLanes.Cut(lane, batch)).toList(),
        result.moment);
    return result;
  }

  /** Makes lanes ready whose lease has run out or whose head is due; sets the next timer. */
  int wake() {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(WAKE)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, queue.node().shard());
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  long next = rows.getLong(2);
                  if (!rows.wasNull()) {
                    queue.claims().wakeLanesWithin(Duration.ofNanos(next * 1000));
                  }
                  int woken = rows.getInt(1);
                  if (woken >= MOST_WOKEN) {
                    queue.claims().wakeLanesWithin(Duration.ZERO);
                  }
                  return woken;
                }
              }
            });
  }

  /**
   * Where the line of ready lanes begins; now and then from the very start, for those put before
   * it.
   */
  private long lineBegins() {
    long now = time.nanoTime();
    if (now - lookedFromTheStart < LOOK_FROM_START_NANOS) {
      return lineBegins;
    }
    lookedFromTheStart = now;
    return 0;
  }

  private Result claim(Connection connection, List<Acceptor> waiting, int batch)
      throws SQLException {
    try (var statement = BinaryAnswer.prepare(connection, CLAIM)) {
      statement.setInt(1, queue.id());
      statement.setArray(
          2,
          SqlArray.of(
              connection,
              "text",
              waiting.stream().map(a -> a.owner().name()).toArray(String[]::new)));
      statement.setString(3, queue.node().id());
      statement.setInt(4, batch);
      statement.setLong(5, lineBegins());
      try (var rows = statement.executeQuery()) {
        var result = new Result();
        while (rows.next()) {
          result.add(rows);
        }
        return result;
      }
    }
  }

  /** What a round brought. */
  static final class Result {
    final Map<SessionId, ClaimedLane> lanes = new LinkedHashMap<>();
    final List<ClaimSessions.News> news = new ArrayList<>();
    boolean readyLeft;
    boolean areBundlesLeft;

    /** Whether something was locked, and a later round has to look again. */
    boolean isLate;

    /** When the first of the new messages is due that wait for their time. */
    Optional<Instant> nextDue = Optional.empty();

    @Nullable String readBy;
    long lineBegins;
    Instant moment = Instant.EPOCH;

    private void add(ResultSet row) throws SQLException {
      switch (HandedRow.kind(row)) {
        case HandedRow.LANE -> {
          var session = HandedRow.session(row);
          var lane = lanes.get(session);
          if (lane == null) {
            lane = ClaimedLane.of(row, session);
            lanes.put(session, lane);
          }
          lane.addMessage(row);
        }
        case HandedRow.NEWS ->
            news.add(
                new ClaimSessions.News(
                    HandedRow.session(row), HandedRow.epoch(row), HandedRow.node(row)));
        case HandedRow.SUMMARY -> {
          moment = HandedRow.until(row);
          readyLeft = HandedRow.flag(row);
          areBundlesLeft = HandedRow.areBundlesLeft(row);
          isLate = HandedRow.isLate(row);
          nextDue = HandedRow.dueAt(row);
          readBy = HandedRow.node(row);
          lineBegins = HandedRow.sequence(row);
        }
        default -> throw new KeeperException.Rejected("Unknown row of a claim");
      }
    }
  }
}
