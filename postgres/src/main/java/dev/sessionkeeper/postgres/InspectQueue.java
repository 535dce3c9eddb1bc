package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Shows what is going on in a queue. Counts come from the tally and from lanes, not from messages.
 */
final class InspectQueue {
  private static final String STATS =
      """
      SELECT COALESCE(sum(arrived - gone), 0), COALESCE(sum(dead), 0) FROM keeper.tally WHERE queue = ?
      """; // tally_pkey (queue, shard)
  private static final String LANES =
      """
      SELECT (SELECT count(*) FROM keeper.lane WHERE queue::bigint = k.id AND status = 0),
             (SELECT count(*) FROM keeper.lane WHERE queue::bigint = k.id AND status IN (1, 2) AND status = 1),
             (extract(epoch FROM clock_timestamp() - LEAST(
                (SELECT m.enqueued_at FROM keeper.message m WHERE m.queue::bigint = k.id ORDER BY m.xid LIMIT 1),
                (SELECT b.enqueued_at FROM keeper.bundle b WHERE b.queue = k.id ORDER BY b.first_seq LIMIT 1))) * 1000000)::bigint,
             (SELECT count(*) FROM keeper.lane WHERE queue::bigint = k.id AND status IN (1, 2) AND status = 2),
             (SELECT count(*) FROM keeper.lane WHERE queue::bigint = k.id AND status IN (3, 4) AND status = 3),
             (SELECT count(*) FROM keeper.lane WHERE queue::bigint = k.id AND status IN (3, 4) AND status = 4)
        FROM keeper.queue k WHERE k.id = ?
      """; // lane_ready, lane_until, lane_aside, message_new, bundle_pkey
  private static final String LOOSE =
      """
      SELECT (SELECT count(*) FROM keeper.loose_message WHERE queue::bigint = k.id AND receipt = 0 AND visible_at <= clock_timestamp()),
             (SELECT count(*) FROM keeper.loose_message WHERE queue::bigint = k.id AND receipt <> 0),
             (SELECT (extract(epoch FROM clock_timestamp() - m.enqueued_at) * 1000000)::bigint FROM keeper.loose_message m
               WHERE m.queue = k.id ORDER BY m.seq LIMIT 1), 0, 0, 0
        FROM keeper.queue k WHERE k.id = ?
      """; // loose_message_free, loose_message_locked, loose_message_pkey
  private static final String SESSIONS =
      """
      WITH bundled AS MATERIALIZED (
        SELECT u.session COLLATE "C" AS session, count(*) AS backlog, min(b.enqueued_at) AS enqueued_at
          FROM keeper.bundle b
               LEFT JOIN keeper.noted k ON k.queue = b.queue AND k.first = b.first_seq
               CROSS JOIN LATERAL unnest(b.sessions) WITH ORDINALITY u(session, n)
         WHERE b.queue = ? AND u.session COLLATE "C" > ?
           AND ((b.done | COALESCE(k.mask, 0)) >> (u.n - 1)::int) & 1 = 0 GROUP BY 1)
      (SELECT l.session, COALESCE(l.aside, l.status) AS shown,
             c.backlog + COALESCE((SELECT b.backlog FROM bundled b WHERE b.session = l.session), 0),
             COALESCE((extract(epoch FROM clock_timestamp() - h.enqueued_at) * 1000000)::bigint, 0),
             l.owner, l.epoch, CASE WHEN l.status = 1 THEN l.until END,
             COALESCE(h.attempts, 0) + CASE WHEN l.status = 1 AND h.seq <= l.reached THEN 1 ELSE 0 END,
             l.reason, l.since, h.last_error, h.failed_at, h.enqueued_at
        FROM keeper.lane l
        LEFT JOIN LATERAL (SELECT count(*) AS backlog FROM keeper.message m
                            WHERE m.queue = l.queue AND m.session = l.session) c ON true
        LEFT JOIN LATERAL (SELECT * FROM keeper.message m
                            WHERE m.queue = l.queue AND m.session = l.session ORDER BY m.seq LIMIT 1) h ON true
       WHERE l.queue = ? AND l.session > ? AND (?::int IS NULL OR COALESCE(l.aside, l.status) = ?)
       ORDER BY l.session LIMIT ?)
      UNION ALL
      (SELECT b.session, 0, b.backlog, (extract(epoch FROM clock_timestamp() - b.enqueued_at) * 1000000)::bigint,
              NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, b.enqueued_at
         FROM bundled b
        WHERE (?::int IS NULL OR ? = 0)
          AND NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = ? AND l.session = b.session)
        ORDER BY b.session LIMIT ?)
      ORDER BY 1 LIMIT ?
      """; // lane_pkey, message_pkey, bundle_pkey

  private final QueueTable.Known known;
  private final Setup setup;

  InspectQueue(QueueTable.Known known, Setup setup) {
    this.known = known;
    this.setup = setup;
  }

  /**
   * The numbers of an ordered queue.
   *
   * @param ready sessions that this process carries without a lane, and that wait
   * @param held those that it carries, and that somebody holds
   */
  QueueStats ofSessions(int ready, int held) {
    return stats(LANES, ready, held);
  }

  QueueStats ofMessages() {
    return stats(LOOSE, 0, 0);
  }

  private QueueStats stats(String sql, int ready, int held) {
    return setup
        .connections()
        .look(
            connection -> {
              try (var totals = connection.prepareStatement(STATS);
                  var parts = connection.prepareStatement(sql)) {
                totals.setInt(1, known.id());
                parts.setInt(1, known.id());
                try (var total = totals.executeQuery();
                    var part = parts.executeQuery()) {
                  total.next();
                  part.next();
                  return new QueueStats(
                      total.getLong(1),
                      part.getLong(1) + ready,
                      part.getLong(2) + held,
                      total.getLong(2),
                      Duration.of(part.getLong(3), ChronoUnit.MICROS),
                      part.getLong(4),
                      part.getLong(5),
                      part.getLong(6));
                }
              }
            });
  }

  Page<SessionView> page(Optional<SessionStatus> status, Page.Request request) {
    var list = "sessions/" + known.name();
    var behind =
        request.cursor().map(cursor -> PageCursor.keyOf(list, 1, cursor).get(0)).orElse("");
    var found =
        setup
            .connections()
            .look(connection -> read(connection, status, behind, request.limit() + 1));
    return Page.of(found, request.limit(), view -> PageCursor.after(list, view.id().value()));
  }

  private List<SessionView> read(
      Connection connection, Optional<SessionStatus> status, String behind, int limit)
      throws SQLException {
    try (var statement = connection.prepareStatement(SESSIONS)) {
      var number = status.map(Codes::of).orElse(null);
      statement.setInt(1, known.id());
      statement.setString(2, behind);
      statement.setInt(3, known.id());
      statement.setString(4, behind);
      statement.setObject(5, number, java.sql.Types.INTEGER);
      statement.setObject(6, number, java.sql.Types.INTEGER);
      statement.setInt(7, limit);
      statement.setObject(8, number, java.sql.Types.INTEGER);
      statement.setObject(9, number, java.sql.Types.INTEGER);
      statement.setInt(10, known.id());
      statement.setInt(11, limit);
      statement.setInt(12, limit);
      try (var rows = statement.executeQuery()) {
        var views = new ArrayList<SessionView>();
        while (rows.next()) {
          views.add(view(rows));
        }
        return views;
      }
    }
  }

  private static SessionView view(ResultSet row) throws SQLException {
    var status = Codes.status(row.getInt(2));
    var asideReason = Optional.ofNullable(row.getString(9));
    boolean waits = status == SessionStatus.WAITING;
    var failedAt = HandedRow.optionalInstant(row, 12);
    return new SessionView(
        SessionId.of(row.getString(1)),
        status,
        row.getLong(3),
        Duration.of(row.getLong(4), ChronoUnit.MICROS),
        Optional.ofNullable(row.getString(5)).map(Owner::of),
        row.getLong(6),
        HandedRow.optionalInstant(row, 7),
        row.getInt(8),
        waits ? Optional.of(whyWaiting(row.getString(11), failedAt.isPresent())) : asideReason,
        waits ? failedAt.or(() -> optional(row)) : HandedRow.optionalInstant(row, 10));
  }

  private static Optional<java.time.Instant> optional(ResultSet row) {
    try {
      return HandedRow.optionalInstant(row, 13);
    } catch (SQLException e) {
      throw dev.sessionkeeper.store.SqlErrors.translate(e);
    }
  }

  private static String whyWaiting(String lastError, boolean hasFailed) {
    if (!hasFailed) {
      return "its first message waits for its earliest time";
    }
    return lastError == null || lastError.isEmpty()
        ? "its first message waits for its retry"
        : "its first message waits for its retry: " + lastError;
  }
}
