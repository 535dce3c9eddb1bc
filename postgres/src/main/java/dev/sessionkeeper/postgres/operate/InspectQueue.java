package dev.sessionkeeper.postgres.operate;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.read.CachedHold;
import dev.sessionkeeper.postgres.row.SessionRow;
import dev.sessionkeeper.postgres.row.StoredCodes;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Inspects a queue. Counts come from the counters and from sessions, not from messages. */
public final class InspectQueue {
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

  /**
   * Finds the sessions of a page and counts their messages in batches: sessions with a row, held
   * sessions without one, and sessions that exist in batches only. The names in 1,024 batches, no
   * matter which, limit how far the page can reach. Then the names of all batches are read once, in
   * the fastest way that PostgreSQL has (unnest in a list of columns: a millisecond for 20,000),
   * and only those within the limit are counted.
   */
  static final String NAMES =
      """
      WITH wish AS MATERIALIZED (
        SELECT w.*, w.status IS NULL OR w.status = 0 AS with_bundled
          FROM (SELECT ?::int AS queue, ?::text COLLATE "C" AS behind, ?::int AS status, ?::int AS most, ?::text[] AS carried,
                       ?::text[] AS held) w),
      noted AS MATERIALIZED (SELECT n.first, n.mask FROM keeper.noted n WHERE n.queue = (SELECT queue FROM wish)),
      known AS MATERIALIZED (
        (SELECT l.session FROM keeper.lane l
          WHERE l.queue = (SELECT queue FROM wish) AND l.session > (SELECT behind FROM wish)
            AND ((SELECT status FROM wish) IS NULL OR COALESCE(l.aside, l.status) = (SELECT status FROM wish))
          ORDER BY l.session LIMIT (SELECT most FROM wish))
        UNION
        SELECT h.session COLLATE "C" FROM unnest((SELECT held FROM wish)) h(session)),
      sample AS MATERIALIZED (
        SELECT d.session
          FROM (SELECT DISTINCT u.session
                  FROM (SELECT unnest(b.sessions) COLLATE "C" AS session, generate_subscripts(b.sessions, 1) - 1 AS bit,
                               b.done | COALESCE(n.mask, 0) AS done
                          FROM (SELECT x.first_seq, x.done, x.sessions || '{}' AS sessions FROM keeper.bundle x
                                 WHERE x.queue = (SELECT queue FROM wish) AND (SELECT with_bundled FROM wish) LIMIT 1024) b
                               LEFT JOIN noted n ON n.first = b.first_seq) u
                 WHERE u.session > (SELECT behind FROM wish) AND (u.done >> u.bit) & 1 = 0
                 ORDER BY u.session OFFSET 0) d
         WHERE d.session NOT IN (SELECT unnest((SELECT carried FROM wish)))
           AND (SELECT 1 FROM keeper.lane l WHERE l.queue = (SELECT queue FROM wish) AND l.session = d.session) IS NULL
         ORDER BY d.session LIMIT (SELECT most FROM wish)),
      line AS MATERIALIZED (
        SELECT CASE WHEN w.with_bundled
                    THEN COALESCE((SELECT c.session FROM (SELECT k.session FROM known k UNION SELECT s.session FROM sample s) c
                                    ORDER BY c.session OFFSET w.most - 1 LIMIT 1), U&'\\+10FFFF')
                    ELSE COALESCE((SELECT max(k.session) FROM known k), '') END COLLATE "C" AS last
          FROM wish w),
      counted AS MATERIALIZED (
        SELECT m.session, count(*) AS backlog, min(m.enqueued_at) AS enqueued_at
          FROM (SELECT unnest(x.sessions) COLLATE "C" AS session, x.enqueued_at FROM keeper.bundle x
                 WHERE x.queue = (SELECT queue FROM wish) AND x.done = 0
                   AND NOT EXISTS (SELECT FROM noted n WHERE n.first = x.first_seq)
                UNION ALL
                SELECT u.session COLLATE "C", b.enqueued_at
                  FROM (SELECT x.sessions, x.enqueued_at, x.done | COALESCE(n.mask, 0) AS done
                          FROM keeper.bundle x LEFT JOIN noted n ON n.first = x.first_seq
                         WHERE x.queue = (SELECT queue FROM wish) AND (x.done <> 0 OR n.first IS NOT NULL) OFFSET 0) b
                       CROSS JOIN LATERAL unnest(b.sessions) WITH ORDINALITY u(session, n)
                 WHERE (b.done >> (u.n - 1)::int) & 1 = 0) m
         WHERE m.session <= (SELECT last FROM line) AND m.session > (SELECT behind FROM wish)
         GROUP BY m.session),
      page AS MATERIALIZED (
        SELECT k.session FROM known k
        UNION
        (SELECT d.session FROM counted d
          WHERE (SELECT with_bundled FROM wish)
            AND d.session NOT IN (SELECT unnest((SELECT carried FROM wish)))
            AND (SELECT 1 FROM keeper.lane l WHERE l.queue = (SELECT queue FROM wish) AND l.session = d.session) IS NULL)
        ORDER BY 1 LIMIT (SELECT most FROM wish))
      SELECT p.session, COALESCE(c.backlog, 0), c.enqueued_at FROM page p LEFT JOIN counted c ON c.session = p.session
       ORDER BY p.session
      """; // lane_pkey (queue, session), bundle_pkey

  /**
   * Reads the rows of some sessions, in the order of their names, or the failures of their first
   * messages in batches.
   */
  private static final String SESSIONS =
      """
      WITH noted AS MATERIALIZED (SELECT n.first, n.mask FROM keeper.noted n WHERE n.queue = ?)
      SELECT w.session, COALESCE(l.aside, l.status, 0), COALESCE(c.backlog, 0) + w.backlog,
             COALESCE((extract(epoch FROM clock_timestamp() - COALESCE(h.enqueued_at, w.enqueued_at)) * 1000000)::bigint, 0),
             l.owner, COALESCE(l.epoch, 0), CASE WHEN l.status = 1 THEN l.until END,
             COALESCE(h.attempts, f.attempts, 0) + CASE WHEN l.status = 1 AND h.seq <= l.reached THEN 1 ELSE 0 END,
             l.reason, l.since, h.last_error, h.failed_at, COALESCE(h.enqueued_at, w.enqueued_at),
             CASE WHEN l.status = 1 THEN l.held_since END, l.session IS NOT NULL, clock_timestamp()
        FROM unnest(?::text[], ?::bigint[], ?::timestamptz[]) w(session, backlog, enqueued_at)
        LEFT JOIN LATERAL (SELECT * FROM keeper.lane x WHERE x.queue = ? AND x.session = w.session COLLATE "C") l ON true
        LEFT JOIN LATERAL (SELECT count(*) AS backlog FROM keeper.message m
                            WHERE m.queue = l.queue AND m.session = l.session) c ON true
        LEFT JOIN LATERAL (SELECT * FROM keeper.message m
                            WHERE m.queue = l.queue AND m.session = l.session ORDER BY m.seq LIMIT 1) h ON true
        LEFT JOIN LATERAL (SELECT x.attempts FROM keeper.failed_head x
                            CROSS JOIN LATERAL (SELECT y.first_seq, y.done FROM keeper.bundle y
                                                 WHERE y.queue = x.queue AND y.first_seq <= x.seq AND y.first_seq > x.seq - 64
                                                 ORDER BY y.first_seq DESC LIMIT 1) b
                            LEFT JOIN noted n ON n.first = b.first_seq
                            WHERE x.queue = ? AND x.session = w.session COLLATE "C" AND w.backlog > 0
                              AND ((b.done | COALESCE(n.mask, 0)) >> (x.seq - b.first_seq)::int) & 1 = 0) f ON true
       ORDER BY w.session COLLATE "C"
      """; // lane_pkey, message_pkey, failed_head_pkey, bundle_pkey

  private final QueueContext queue;

  public InspectQueue(QueueContext queue) {
    this.queue = queue;
  }

  /**
   * Returns the numbers of an ordered queue.
   *
   * @param ready the sessions in the memory of this process that wait for an owner
   * @param held the sessions in the memory of this process that have one
   */
  public QueueStats ofSessions(int ready, int held) {
    return stats(LANES, ready, held);
  }

  public QueueStats ofMessages() {
    return stats(LOOSE, 0, 0);
  }

  private QueueStats stats(String sql, int ready, int held) {
    return queue
        .connections()
        .look(
            connection -> {
              try (var totals = connection.prepareStatement(STATS);
                  var parts = connection.prepareStatement(sql)) {
                totals.setInt(1, queue.id());
                parts.setInt(1, queue.id());
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

  /**
   * Returns a page of sessions, in the order of their ids. Writes nothing.
   *
   * @param carried the sessions without a row that consumers of this process hold
   */
  public Page<SessionView> page(
      Optional<SessionStatus> status,
      Page.Request request,
      NavigableMap<SessionId, CachedHold> carried) {
    var list = "sessions/" + queue.name();
    var behind =
        request.cursor().map(cursor -> PageCursor.keyOf(list, 1, cursor).get(0)).orElse("");
    int limit = request.limit() + 1;
    var found =
        queue
            .connections()
            .look(
                connection ->
                    read(connection, names(connection, status, behind, limit, carried), carried));
    return Page.of(found, request.limit(), view -> PageCursor.after(list, view.id().value()));
  }

  /**
   * A session of a page.
   *
   * @param backlog its messages in batches
   * @param enqueuedAt of the oldest of these; null if there is none
   */
  private record Named(String session, long backlog, @Nullable OffsetDateTime enqueuedAt) {}

  private List<Named> names(
      Connection connection,
      Optional<SessionStatus> status,
      String behind,
      int limit,
      NavigableMap<SessionId, CachedHold> carried)
      throws SQLException {
    boolean areHeldWanted = status.isEmpty() || status.get() == SessionStatus.HELD;
    var names = carried.keySet().stream().map(SessionId::value).toList();
    var held =
        names.stream().filter(name -> SessionRow.BY_BYTES.compare(name, behind) > 0).toList();
    try (var statement = connection.prepareStatement(NAMES)) {
      statement.setInt(1, queue.id());
      statement.setString(2, behind);
      statement.setObject(3, status.map(StoredCodes::of).orElse(null), java.sql.Types.INTEGER);
      statement.setInt(4, limit);
      statement.setArray(5, texts(connection, names));
      statement.setArray(6, texts(connection, areHeldWanted ? held : List.of()));
      try (var rows = statement.executeQuery()) {
        var found = new ArrayList<Named>();
        while (rows.next()) {
          found.add(
              new Named(
                  rows.getString(1), rows.getLong(2), rows.getObject(3, OffsetDateTime.class)));
        }
        return found;
      }
    }
  }

  private static Array texts(Connection connection, List<String> names) throws SQLException {
    return SqlArray.of(connection, "text", names.toArray(String[]::new));
  }

  private List<SessionView> read(
      Connection connection, List<Named> names, NavigableMap<SessionId, CachedHold> carried)
      throws SQLException {
    try (var statement = connection.prepareStatement(SESSIONS)) {
      statement.setInt(1, queue.id());
      statement.setArray(2, texts(connection, names.stream().map(Named::session).toList()));
      statement.setArray(
          3, SqlArray.of(connection, "int8", names.stream().mapToLong(Named::backlog).toArray()));
      statement.setArray(
          4,
          SqlArray.of(
              connection,
              "timestamptz",
              names.stream()
                  .map(name -> name.enqueuedAt == null ? null : name.enqueuedAt.toString())
                  .toArray(String[]::new)));
      statement.setInt(5, queue.id());
      statement.setInt(6, queue.id());
      try (var rows = statement.executeQuery()) {
        var views = new ArrayList<SessionView>();
        while (rows.next()) {
          var view = SessionRow.of(rows);
          boolean hasLane = rows.getBoolean(15);
          var hold = hasLane ? null : carried.get(view.id());
          if (hold != null) {
            views.add(held(view, hold, Instants.optional(rows, 16)));
          } else if (hasLane || view.backlog() > 0) {
            views.add(view);
          }
        }
        return views;
      }
    }
  }

  /**
   * Adds a hold without a row to a session's view. Such a hold began within the last two seconds.
   */
  private static SessionView held(SessionView view, CachedHold hold, Optional<Instant> now) {
    return new SessionView(
        view.id(),
        SessionStatus.HELD,
        view.backlog(),
        view.headAge(),
        Optional.of(hold.lease().owner()),
        hold.lease().epoch(),
        Optional.of(hold.lease().until()),
        view.attempts() + (hold.isHandedOut() && view.backlog() > 0 ? 1 : 0),
        Optional.empty(),
        Optional.empty(),
        now);
  }
}
