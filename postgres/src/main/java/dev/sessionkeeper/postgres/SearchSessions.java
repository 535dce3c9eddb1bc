package dev.sessionkeeper.postgres;

import static java.util.Comparator.comparing;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.row.MessageRow;
import dev.sessionkeeper.postgres.row.SessionRow;
import dev.sessionkeeper.postgres.row.StoredCodes;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Searches sessions for dashboards. A search only reads, locks nothing and notifies no consumer, so
 * it disturbs no work.
 *
 * <p>A list has the sessions with rows, and those of the oldest message batches. Other messages in
 * batches count only when one session is read. Safe for use by many threads.
 */
public final class SearchSessions {
  /** Sorts behind every id with the given prefix; the database compares bytes. */
  private static final String LAST = "\uDBFF\uDFFF";

  /** The most messages that a list counts for one session, and the most sessions of a count. */
  private static final int MOST_COUNTED = 10_001;

  private static final String VIEW =
      """
      SELECT l.session, COALESCE(l.aside, l.status),
             (SELECT count(*) FROM (SELECT FROM keeper.message m WHERE m.queue = l.queue AND m.session = l.session
                                     LIMIT %d) counted),
             COALESCE((extract(epoch FROM clock_timestamp() - h.enqueued_at) * 1000000)::bigint, 0),
             l.owner, l.epoch, CASE WHEN l.status = 1 THEN l.until END,
             COALESCE(h.attempts, 0) + CASE WHEN l.status = 1 AND h.seq <= l.reached THEN 1 ELSE 0 END,
             l.reason, l.since, h.last_error, h.failed_at, h.enqueued_at,
             CASE WHEN l.status = 1 THEN l.held_since END
        FROM %s l
        LEFT JOIN LATERAL (SELECT m.seq, m.attempts, m.enqueued_at, m.last_error, m.failed_at FROM keeper.message m
                            WHERE m.queue = l.queue AND m.session = l.session ORDER BY m.seq LIMIT 1) h ON true
       ORDER BY l.session
      """;

  /** The most sessions that a page reads to find those that match the filter. */
  private static final int MOST_LOOKED_AT = 10_000;

  /** The most sessions with an owner or a delay that a list of held sessions reads. */
  private static final int MOST_HELD = 20_000;

  private static final String LANES_IN_ORDER =
      """
      (SELECT y.* FROM keeper.lane y
        WHERE y.queue = (SELECT k.id FROM keeper.queue k WHERE k.name = ?) AND y.session > ? AND y.session >= ?
          AND y.session < ? ORDER BY y.session LIMIT %d)
      """
          .formatted(MOST_LOOKED_AT); // lane_pkey (queue, session)

  private static final String ANY =
      "(SELECT x.* FROM "
          + LANES_IN_ORDER
          + " x WHERE COALESCE(x.aside, x.status) = ANY (?) ORDER BY x.session LIMIT ?)";

  private static final String LOOKED_AT =
      "SELECT count(*), max(x.session) FROM " + LANES_IN_ORDER + " x";

  /** Reads each status in the order of its sessions, so that no more rows are read than shown. */
  private static final String STUCK =
      """
      (SELECT s.* FROM (
         SELECT x.* FROM unnest(?::int[]) wanted(status) CROSS JOIN LATERAL (
           SELECT y.* FROM keeper.lane y
            WHERE y.queue::bigint = (SELECT k.id FROM keeper.queue k WHERE k.name = ?)
              AND COALESCE(y.aside, y.status) = wanted.status AND (y.status IN (2, 3, 4) OR y.aside IS NOT NULL)
              AND y.session > ? AND y.session >= ? AND y.session < ? ORDER BY y.session LIMIT ?) x) s
        ORDER BY s.session LIMIT ?)
      """; // lane_attention

  private static final String HELD =
      """
      (SELECT x.* FROM (
         SELECT y.* FROM keeper.lane y
          WHERE y.queue::bigint = (SELECT k.id FROM keeper.queue k WHERE k.name = ?) AND y.status IN (1, 2)
          ORDER BY y.until LIMIT %d) x
        WHERE x.status = 1 AND x.aside IS NULL AND x.session > ? AND x.session >= ? AND x.session < ?
        ORDER BY x.session LIMIT ?)
      """
          .formatted(MOST_HELD); // lane_until

  /** Counts one more of each status than is shown exactly. */
  private static final String COUNTS =
      """
      SELECT (SELECT count(*) FROM (SELECT FROM keeper.lane x
               WHERE x.queue::bigint = k.id AND (x.status IN (2, 3, 4) OR x.aside IS NOT NULL) LIMIT %1$d) a),
             (SELECT count(*) FROM (SELECT FROM keeper.lane x
               WHERE x.queue::bigint = k.id AND x.status IN (1, 2) AND x.status = 1 AND x.aside IS NULL LIMIT %1$d) h),
             (SELECT count(*) FROM (SELECT FROM keeper.lane x
               WHERE x.queue::bigint = k.id AND x.status = 0 LIMIT %1$d) r)
        FROM keeper.queue k WHERE k.name = ?
      """
          .formatted(MOST_COUNTED); // lane_attention, lane_until, lane_ready

  private static final String ONE =
      """
      (SELECT x.* FROM keeper.lane x
        WHERE x.queue = (SELECT k.id FROM keeper.queue k WHERE k.name = ?) AND x.session = ?)
      """; // lane_pkey

  /** The number of the oldest batches that a list searches for sessions without a row. */
  private static final int BUNDLES = 200;

  private static final String WITHOUT_LANE =
      """
      SELECT u.session, count(*), (extract(epoch FROM clock_timestamp() - min(b.enqueued_at)) * 1000000)::bigint
        FROM (SELECT x.* FROM keeper.bundle x WHERE x.queue = (SELECT k.id FROM keeper.queue k WHERE k.name = ?)
               ORDER BY x.first_seq LIMIT %d) b
             LEFT JOIN keeper.noted n ON n.queue = b.queue AND n.first = b.first_seq
             CROSS JOIN LATERAL unnest(b.sessions) WITH ORDINALITY u(session, n)
       WHERE u.session > ? AND u.session >= ? AND u.session < ?
         AND ((b.done | COALESCE(n.mask, 0)) >> (u.n - 1)::int) & 1 = 0
         AND NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = b.queue AND l.session = u.session)
       GROUP BY u.session ORDER BY u.session LIMIT ?
      """
          .formatted(BUNDLES); // bundle_pkey (queue, first_seq), lane_pkey (queue, session)

  private static final String BUNDLED =
      """
      SELECT count(*), min(b.enqueued_at),
             (extract(epoch FROM clock_timestamp() - min(b.enqueued_at)) * 1000000)::bigint,
             EXISTS (SELECT FROM keeper.reader r WHERE r.queue = k.id AND r.until > clock_timestamp())
        FROM keeper.queue k
        LEFT JOIN (SELECT b.*, u.n FROM keeper.bundle b
                          CROSS JOIN LATERAL unnest(b.sessions) WITH ORDINALITY u(session, n)
                    WHERE ? = ANY (b.sessions) AND u.session = ?) b ON b.queue = k.id
        LEFT JOIN keeper.noted n ON n.queue = b.queue AND n.first = b.first_seq
       WHERE k.name = ? AND (b.n IS NULL OR ((b.done | COALESCE(n.mask, 0)) >> (b.n - 1)::int) & 1 = 0)
       GROUP BY k.id
      """; // bundle_pkey (queue, first_seq), reader_pkey

  private static final String WAITING =
      """
      SELECT w.seq, w.message_id, w.form % 4, w.content_type,
             CASE WHEN w.form >= 4 THEN (SELECT s.bytes FROM keeper.shared_body s
                                          WHERE s.id = COALESCE(w.shared, encode(w.body, 'hex')::uuid)) ELSE w.body END,
             w.properties, w.ttl_us, w.not_before, w.enqueued_at, w.attempts, w.due_at, w.last_error
        FROM (SELECT m.seq, m.message_id, m.form, m.content_type, m.body, NULL::uuid AS shared, m.properties, m.ttl_us,
                     m.not_before, m.enqueued_at, m.attempts, m.due_at, COALESCE(m.last_error, '') AS last_error
                FROM keeper.message m
               WHERE m.queue = (SELECT k.id FROM keeper.queue k WHERE k.name = ?) AND m.session = ? AND m.seq > ?
              UNION ALL
              SELECT b.first_seq + u.n - 1, u.id, COALESCE(u.form, b.forms[1]), COALESCE(u.type, b.types[1]), u.body,
                     b.shared, u.properties, u.ttl_us, u.not_before, b.enqueued_at, COALESCE(f.attempts, 0), u.not_before,
                     COALESCE(f.last_error, '')
                FROM keeper.bundle b
                     LEFT JOIN keeper.noted n ON n.queue = b.queue AND n.first = b.first_seq
                     CROSS JOIN LATERAL unnest(b.sessions, b.ids, b.forms, b.types, b.bodies, b.props, b.ttls, b.not_befores)
                       WITH ORDINALITY u(session, id, form, type, body, properties, ttl_us, not_before, n)
                     LEFT JOIN keeper.failed_head f
                       ON f.queue = b.queue AND f.session = u.session COLLATE "C" AND f.seq = b.first_seq + u.n - 1
               WHERE b.queue = (SELECT k.id FROM keeper.queue k WHERE k.name = ?) AND ? = ANY (b.sessions) AND u.session = ?
                 AND b.first_seq + u.n - 1 > ? AND ((b.done | COALESCE(n.mask, 0)) >> (u.n - 1)::int) & 1 = 0) w
       ORDER BY w.seq LIMIT ?
      """; // message_pkey (queue, session, seq), bundle_pkey, failed_head_pkey (queue, session)

  private static final String STATE =
      """
      SELECT s.bytes, s.version, s.updated_at FROM keeper.session_state s
       WHERE s.queue = (SELECT k.id FROM keeper.queue k WHERE k.name = ?) AND s.session = ?
      """; // session_state_pkey

  private static final String HAS_BUNDLES =
      "SELECT EXISTS (SELECT FROM keeper.bundle b JOIN keeper.queue k ON k.id = b.queue WHERE k.name = ?)";

  private final Database database;

  public SearchSessions(Database database) {
    this.database = database;
  }

  /**
   * Selects sessions.
   *
   * @param statuses the statuses to select
   * @param prefix the beginning of the session id; may be empty
   */
  public record Filter(Set<SessionStatus> statuses, String prefix) {
    /** The statuses that may need an operator: waiting, parked and paused. */
    public static final Set<SessionStatus> ATTENTION =
        Set.of(SessionStatus.WAITING, SessionStatus.PARKED, SessionStatus.PAUSED);
  }

  /**
   * A page of sessions, by id.
   *
   * @param isBacklogExact false if some messages are in batches, which lists do not count
   */
  public record Found(Page<SessionView> page, boolean isBacklogExact) {}

  /**
   * The sessions with rows, each number exact up to 10,000.
   *
   * @param attention waiting, parked or paused
   */
  public record Counts(long attention, long held, long ready) {}

  /**
   * One session, with all of its messages counted.
   *
   * @param isReadAlone whether a reader hands sessions of this queue out from its memory; only the
   *     reader knows the owner of a session without a row
   */
  public record One(SessionView view, boolean isReadAlone) {}

  /** A message that waits in its session. */
  public record Waiting(
      Message message,
      long sequence,
      int attempts,
      Instant enqueuedAt,
      Optional<Instant> dueAt,
      String lastError) {}

  /** The state of a session. */
  public record State(byte[] bytes, long version, Instant updatedAt) {}

  public Found page(QueueName queue, Filter filter, Page.Request request) {
    var list = "session-search/" + queue;
    var behind =
        request.cursor().map(cursor -> PageCursor.keyOf(list, 1, cursor).get(0)).orElse("");
    return database.withConnection(
        connection -> {
          var lanes = lanes(connection, queue, filter, behind, request.limit() + 1);
          var views = lanes.views();
          if (filter.statuses().contains(SessionStatus.READY)) {
            views.addAll(withoutLane(connection, queue, filter, behind, request.limit() + 1));
            views.sort(comparing(view -> view.id().value(), SessionRow.BY_BYTES));
            lanes.lookedUpTo().ifPresent(last -> views.removeIf(view -> isBehind(view, last)));
          }
          var some = views.subList(0, Math.min(views.size(), request.limit() + 1));
          boolean isCut = some.size() <= request.limit() && lanes.lookedUpTo().isPresent();
          var page =
              isCut
                  ? new Page<>(
                      List.copyOf(some),
                      lanes.lookedUpTo().map(last -> PageCursor.after(list, last)))
                  : Page.of(
                      some, request.limit(), view -> PageCursor.after(list, view.id().value()));
          return new Found(page, !hasBundles(connection, queue));
        });
  }

  private static boolean isBehind(SessionView view, String last) {
    return SessionRow.BY_BYTES.compare(view.id().value(), last) > 0;
  }

  /**
   * Returns the numbers of sessions by status.
   *
   * @return empty if there is no such queue
   */
  public Optional<Counts> counts(QueueName queue) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(COUNTS)) {
            statement.setString(1, queue.value());
            try (var rows = statement.executeQuery()) {
              return rows.next()
                  ? Optional.of(new Counts(rows.getLong(1), rows.getLong(2), rows.getLong(3)))
                  : Optional.empty();
            }
          }
        });
  }

  /**
   * Sessions with rows that match.
   *
   * @param lookedUpTo the last row that was read, if more rows follow and the page is not full
   */
  private record Lanes(List<SessionView> views, Optional<String> lookedUpTo) {}

  private static Lanes lanes(
      Connection connection, QueueName queue, Filter filter, String behind, int limit)
      throws SQLException {
    var codes =
        SqlArray.of(
            connection, "int4", filter.statuses().stream().mapToInt(StoredCodes::of).toArray());
    var from = List.of(behind, filter.prefix(), filter.prefix() + LAST);
    if (Filter.ATTENTION.containsAll(filter.statuses())) {
      var values = new ArrayList<Object>(List.of(codes, queue.value()));
      values.addAll(from);
      values.addAll(List.of(limit, limit));
      return new Lanes(views(connection, STUCK, values), Optional.empty());
    }
    var values = new ArrayList<Object>(List.of(queue.value()));
    values.addAll(from);
    if (filter.statuses().equals(Set.of(SessionStatus.HELD))) {
      values.add(limit);
      return new Lanes(views(connection, HELD, values), Optional.empty());
    }
    var range = List.copyOf(values);
    values.addAll(List.of(codes, limit));
    var views = views(connection, ANY, values);
    return new Lanes(
        views, views.size() < limit ? lookedUpTo(connection, range) : Optional.empty());
  }

  private static Optional<String> lookedUpTo(Connection connection, List<Object> range)
      throws SQLException {
    try (var statement = connection.prepareStatement(LOOKED_AT)) {
      set(statement, range);
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1) < MOST_LOOKED_AT ? Optional.empty() : Optional.of(rows.getString(2));
      }
    }
  }

  private static void set(PreparedStatement statement, List<Object> values) throws SQLException {
    for (int i = 0; i < values.size(); i++) {
      statement.setObject(i + 1, values.get(i));
    }
  }

  private static List<SessionView> views(Connection connection, String lanes, List<Object> values)
      throws SQLException {
    try (var statement = connection.prepareStatement(VIEW.formatted(MOST_COUNTED, lanes))) {
      set(statement, values);
      try (var rows = statement.executeQuery()) {
        var views = new ArrayList<SessionView>();
        while (rows.next()) {
          views.add(SessionRow.of(rows));
        }
        return views;
      }
    }
  }

  private static List<SessionView> withoutLane(
      Connection connection, QueueName queue, Filter filter, String behind, int limit)
      throws SQLException {
    try (var statement = connection.prepareStatement(WITHOUT_LANE)) {
      statement.setString(1, queue.value());
      statement.setString(2, behind);
      statement.setString(3, filter.prefix());
      statement.setString(4, filter.prefix() + LAST);
      statement.setInt(5, limit);
      try (var rows = statement.executeQuery()) {
        var views = new ArrayList<SessionView>();
        while (rows.next()) {
          var age = Duration.of(rows.getLong(3), ChronoUnit.MICROS);
          views.add(bare(SessionId.of(rows.getString(1)), rows.getLong(2), age));
        }
        return views;
      }
    }
  }

  /** Returns the session; empty if it has no row and no message. */
  public Optional<One> find(QueueName queue, SessionId session) {
    return database.withConnection(connection -> find(connection, queue, session));
  }

  private static Optional<One> find(Connection connection, QueueName queue, SessionId session)
      throws SQLException {
    Optional<SessionView> lane;
    try (var statement = connection.prepareStatement(VIEW.formatted(MOST_COUNTED, ONE))) {
      statement.setString(1, queue.value());
      statement.setString(2, session.value());
      try (var rows = statement.executeQuery()) {
        lane = rows.next() ? Optional.of(SessionRow.of(rows)) : Optional.empty();
      }
    }
    try (var statement = connection.prepareStatement(BUNDLED)) {
      statement.setString(1, session.value());
      statement.setString(2, session.value());
      statement.setString(3, queue.value());
      try (var rows = statement.executeQuery()) {
        if (!rows.next()) {
          return lane.map(view -> new One(view, false));
        }
        var first = Instants.optional(rows, 2);
        long bundled = first.isEmpty() ? 0 : rows.getLong(1);
        var age = Duration.of(rows.getLong(3), ChronoUnit.MICROS);
        boolean isReadAlone = rows.getBoolean(4);
        return lane.map(view -> plus(view, bundled, age))
            .or(() -> bundled == 0 ? Optional.empty() : Optional.of(bare(session, bundled, age)))
            .map(view -> new One(view, isReadAlone));
      }
    }
  }

  private static SessionView plus(SessionView view, long bundled, Duration age) {
    return new SessionView(
        view.id(),
        view.status(),
        view.backlog() + bundled,
        view.backlog() > 0 ? view.headAge() : age,
        view.owner(),
        view.epoch(),
        view.lockedUntil(),
        view.attempts(),
        view.blockedReason(),
        view.blockedSince(),
        view.heldSince());
  }

  private static SessionView bare(SessionId session, long backlog, Duration age) {
    return new SessionView(
        session,
        SessionStatus.READY,
        backlog,
        age,
        Optional.empty(),
        0,
        Optional.empty(),
        0,
        Optional.empty(),
        Optional.empty());
  }

  /** Returns the messages of a session, in order. */
  public Page<Waiting> waiting(QueueName queue, SessionId session, Page.Request request) {
    var list = "waiting/" + queue + "/" + session;
    long behind = request.cursor().map(cursor -> PageCursor.numberOf(list, cursor)).orElse(-1L);
    var found =
        database.withConnection(
            connection -> {
              try (var statement = connection.prepareStatement(WAITING)) {
                statement.setString(1, queue.value());
                statement.setString(2, session.value());
                statement.setLong(3, behind);
                statement.setString(4, queue.value());
                statement.setString(5, session.value());
                statement.setString(6, session.value());
                statement.setLong(7, behind);
                statement.setInt(8, request.limit() + 1);
                try (var rows = statement.executeQuery()) {
                  var messages = new ArrayList<Waiting>();
                  while (rows.next()) {
                    messages.add(waiting(rows, session));
                  }
                  return messages;
                }
              }
            });
    return Page.of(
        found,
        request,
        waiting -> waiting.message().size(),
        waiting -> PageCursor.after(list, Long.toString(waiting.sequence())));
  }

  private static Waiting waiting(ResultSet row, SessionId session) throws SQLException {
    return new Waiting(
        MessageRow.at(row, 2, Optional.of(session)),
        row.getLong(1),
        row.getInt(10),
        Instants.of(row, 9),
        Instants.optional(row, 11),
        row.getString(12));
  }

  /** Returns the state of a session; empty if none was ever written. */
  public Optional<State> state(QueueName queue, SessionId session) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(STATE)) {
            statement.setString(1, queue.value());
            statement.setString(2, session.value());
            try (var rows = statement.executeQuery()) {
              return rows.next()
                  ? Optional.of(new State(rows.getBytes(1), rows.getLong(2), Instants.of(rows, 3)))
                  : Optional.empty();
            }
          }
        });
  }

  private static boolean hasBundles(Connection connection, QueueName queue) throws SQLException {
    try (var statement = connection.prepareStatement(HAS_BUNDLES)) {
      statement.setString(1, queue.value());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getBoolean(1);
      }
    }
  }
}
