package dev.sessionkeeper.postgres.claim;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.BinaryResults;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.prefetch.PrefetchRoom;
import dev.sessionkeeper.postgres.prefetch.ReadLargePayloads;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.ClaimedSession;
import dev.sessionkeeper.postgres.row.HandedRow;
import dev.sessionkeeper.postgres.row.PollSummary;
import dev.sessionkeeper.postgres.row.RowKind;
import dev.sessionkeeper.postgres.row.SessionNews;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The sessions of a queue that have rows: finds new messages, claims sessions, and makes them ready
 * when they are due.
 */
public final class SessionTable {
  private static final String CLAIM =
      "SELECT " + HandedRow.COLUMNS + " FROM keeper.claim_lanes(?, ?, ?, ?, ?)";
  private static final String WAKE = "SELECT woken, next_us FROM keeper.wake_lanes(?, ?)";

  /** The most sessions that one statement makes ready. */
  private static final int MOST_WOKEN = 500;

  private static final long LOOK_FROM_START_NANOS = Duration.ofMillis(100).toNanos();

  private final QueueContext queue;
  private final TimeSource time;
  private final ReadLargePayloads rest;
  private long lineBegins;
  private long lookedFromTheStart;

  SessionTable(QueueContext queue, PrefetchRoom room) {
    this.queue = queue;
    this.time = queue.time();
    this.rest = new ReadLargePayloads(queue, room);
    this.lookedFromTheStart = time.nanoTime() - LOOK_FROM_START_NANOS;
  }

  /** Finds new messages, and claims a session for each owner. */
  Result claim(List<Owner> owners, int batch) {
    var result = queue.connections().call(connection -> claim(connection, owners, batch));
    lineBegins = result.summary.readyFrom();
    rest.complete(
        result.sessions.values().stream()
            .map(session -> new ReadLargePayloads.Cut(session, batch))
            .toList(),
        result.summary.moment());
    return result;
  }

  /**
   * Sessions that became ready.
   *
   * @param next when there may be more
   */
  public record Woken(int count, Optional<Duration> next) {}

  /** Makes sessions ready whose lease has run out or whose head is due. */
  Woken wake() {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(WAKE)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, queue.node().shard());
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  int woken = rows.getInt(1);
                  long next = rows.getLong(2);
                  Optional<Duration> due =
                      rows.wasNull()
                          ? Optional.empty()
                          : Optional.of(Duration.ofNanos(next * 1000));
                  return new Woken(woken, woken < MOST_WOKEN ? due : Optional.of(Duration.ZERO));
                }
              }
            });
  }

  /**
   * Returns where the order of ready sessions begins. From time to time that is the very start of
   * the index, for sessions that were placed before all others.
   */
  private long lineBegins() {
    long now = time.nanoTime();
    if (now - lookedFromTheStart < LOOK_FROM_START_NANOS) {
      return lineBegins;
    }
    lookedFromTheStart = now;
    return 0;
  }

  private Result claim(Connection connection, List<Owner> owners, int batch) throws SQLException {
    try (var statement = BinaryResults.prepare(connection, CLAIM)) {
      statement.setInt(1, queue.id());
      statement.setArray(
          2,
          SqlArray.of(connection, "text", owners.stream().map(Owner::name).toArray(String[]::new)));
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

  /** The result of a poll. */
  public static final class Result {
    final Map<SessionId, ClaimedSession> sessions = new LinkedHashMap<>();
    final List<SessionNews> news = new ArrayList<>();
    PollSummary summary = PollSummary.NONE;

    private void add(ResultSet row) throws SQLException {
      switch (RowKind.of(row)) {
        case SESSION -> {
          var id = HandedRow.session(row);
          var session = sessions.get(id);
          if (session == null) {
            session = ClaimedSession.of(row, id);
            sessions.put(id, session);
          }
          session.addMessage(row);
        }
        case NEWS -> news.add(SessionNews.of(row));
        case SUMMARY -> summary = PollSummary.of(row);
        case LOST, NEW_MESSAGE, SNAPSHOT, BATCH, LEFT_TO_READ ->
            throw new KeeperException.Rejected("Unknown row of a claim");
      }
    }
  }
}
