package dev.sessionkeeper.postgres;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.row.DeadLetterRow;
import dev.sessionkeeper.postgres.row.StoredCodes;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Searches dead letters by their age and cause. Safe for use by many threads. */
public final class SearchDeadLetters {
  /**
   * The number of the newest dead letters that a search reads if reading all of them would take too
   * long.
   */
  public static final int NEWEST = 5_000;

  /** The error without its numbers, which is equal for dead letters of the same cause. */
  private static final String FINGERPRINT =
      "md5(left(regexp_replace(split_part(COALESCE(NULLIF(d.last_error, ''), d.reason), E'\\n', 1), '[0-9]+', '#', 'g'), 300))";

  private static final String QUEUE =
      "d.queue = (SELECT k.id FROM keeper.queue k WHERE k.name = ?)";
  // Also returns the first dead letter that no longer fits, to show that another page follows.
  private static final String PAGE =
      """
      SELECT <columns>
        FROM (SELECT *, sum(octet_length(body) + COALESCE(octet_length(properties), 0)) OVER before_it AS before
                FROM (SELECT * FROM keeper.dead_letter d WHERE <queue> AND d.id <behind> ? AND <conditions>
                       ORDER BY d.id <order> LIMIT ?) candidate
              WINDOW before_it AS (ORDER BY id <order> ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) d
       WHERE COALESCE(before, 0) <= ?
       ORDER BY d.id <order>
      """
          .replace("<columns>", DeadLetterRow.COLUMNS)
          .replace("<queue>", QUEUE); // dead_letter_queue (queue, id), in both directions
  private static final String OLDEST =
      "SELECT d.id, d.message_id FROM keeper.dead_letter d WHERE "
          + QUEUE
          + " AND d.id > ? AND <conditions> ORDER BY d.id LIMIT ?"; // dead_letter_queue
  private static final String SESSIONS =
      "SELECT d.session, d.message_id FROM keeper.dead_letter d WHERE "
          + QUEUE
          + " AND d.message_id = ANY (?) ORDER BY d.id"; // dead_letter_message (queue, message_id)
  private static final String COUNT =
      "SELECT count(*), COALESCE(max(d.id), 0) FROM keeper.dead_letter d WHERE "
          + QUEUE
          + " AND d.id < ? AND <conditions> AND ? > 0"; // dead_letter_queue
  private static final String FIND =
      "SELECT "
          + DeadLetterRow.COLUMNS
          + " FROM keeper.dead_letter d WHERE "
          + QUEUE
          + " AND d.id = ?"; // pkey
  private static final String GROUPS =
      """
      SELECT g.print, count(*), max(g.id), min(g.dead_at), max(g.dead_at), count(DISTINCT g.session),
             (array_agg(g.cause ORDER BY g.id DESC))[1], (array_agg(g.reason ORDER BY g.id DESC))[1]
        FROM (SELECT d.id, d.dead_at, d.session, d.reason, COALESCE(NULLIF(d.last_error, ''), d.reason) AS cause,
                     <print> AS print
                FROM keeper.dead_letter d
               WHERE d.queue = (SELECT k.id FROM keeper.queue k WHERE k.name = ?)
               ORDER BY d.id DESC LIMIT ?) g
       GROUP BY g.print ORDER BY count(*) DESC, max(g.id) DESC LIMIT 50
      """
          .replace("<print>", FINGERPRINT); // dead_letter_queue (queue, id)
  private static final String REPAIR =
      "UPDATE keeper.dead_letter d SET body = ?, form = ?, content_type = ? WHERE "
          + QUEUE
          + " AND d.id = ? AND d.body = ?"; // dead_letter_pkey

  private final Database database;

  public SearchDeadLetters(Database database) {
    this.database = database;
  }

  /**
   * Selects dead letters; an empty field selects all.
   *
   * @param reason a part of the reason or of the last error
   * @param fingerprint of {@link Group}
   * @param upTo the highest id
   */
  public record Filter(
      Optional<SessionId> session,
      Optional<String> reason,
      Optional<String> fingerprint,
      Optional<Instant> from,
      Optional<Instant> to,
      Optional<Long> upTo) {
    public static final Filter ALL =
        new Filter(
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    public Filter upTo(long id) {
      return new Filter(session, reason, fingerprint, from, to, Optional.of(id));
    }
  }

  /** The number of dead letters, and the highest id among them. */
  public record Count(long letters, long highest) {}

  /**
   * Dead letters with the same cause.
   *
   * @param cause the last error of the newest one; its reason if no error is known
   */
  public record Group(
      String fingerprint,
      long letters,
      long sessions,
      Instant first,
      Instant last,
      String cause,
      String reason) {}

  /** The direction of a list. A cursor of one direction is refused in the other. */
  public enum Order {
    NEWEST("dead-letter-search", PAGE.replace("<behind>", "<").replace("<order>", "DESC")),
    OLDEST("dead-letter-search-oldest", PAGE.replace("<behind>", ">").replace("<order>", "ASC"));

    private final String list;
    private final String page;

    Order(String list, String page) {
      this.list = list;
      this.page = page;
    }

    private long behind(String ofQueue, Page.Request request) {
      return request
          .cursor()
          .map(cursor -> PageCursor.numberOf(ofQueue, cursor))
          .orElse(this == NEWEST ? Long.MAX_VALUE : 0L);
    }
  }

  /** Returns a page, the newest dead letter first. */
  public Page<DeadLetter> page(QueueName queue, Filter filter, Page.Request request) {
    return page(queue, filter, Order.NEWEST, request);
  }

  public Page<DeadLetter> page(QueueName queue, Filter filter, Order order, Page.Request request) {
    var list = order.list + "/" + queue;
    long behind = order.behind(list, request);
    var found =
        database.withConnection(
            connection -> letters(connection, queue, filter, order, behind, request));
    return Page.of(
        found,
        request,
        letter -> letter.message().size(),
        letter -> PageCursor.after(list, letter.id()));
  }

  public Count count(QueueName queue, Filter filter) {
    return database.withConnection(
        connection -> {
          try (var statement =
                  prepare(connection, COUNT, queue, filter, Long.MAX_VALUE, List.of(1));
              var rows = statement.executeQuery()) {
            rows.next();
            return new Count(rows.getLong(1), rows.getLong(2));
          }
        });
  }

  /** A dead letter by its two ids. */
  public record Named(long id, MessageId message) {}

  /** Returns the oldest dead letters after an id, for callers that process all of them. */
  public List<Named> oldest(QueueName queue, Filter filter, long behind, int limit) {
    return database.withConnection(
        connection -> {
          try (var statement = prepare(connection, OLDEST, queue, filter, behind, List.of(limit));
              var rows = statement.executeQuery()) {
            var found = new ArrayList<Named>();
            while (rows.next()) {
              found.add(new Named(rows.getLong(1), MessageId.of(rows.getString(2))));
            }
            return found;
          }
        });
  }

  /** Returns those of the messages that are dead letters, by session, the oldest first. */
  public Map<Optional<SessionId>, List<MessageId>> bySession(
      QueueName queue, Collection<MessageId> messages) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(SESSIONS)) {
            statement.setString(1, queue.value());
            statement.setArray(
                2,
                Columns.array(
                    connection, "text", messages.stream().map(MessageId::value).toList()));
            try (var rows = statement.executeQuery()) {
              var found = new LinkedHashMap<Optional<SessionId>, List<MessageId>>();
              while (rows.next()) {
                var session = Optional.ofNullable(rows.getString(1)).map(SessionId::of);
                found
                    .computeIfAbsent(session, key -> new ArrayList<>())
                    .add(MessageId.of(rows.getString(2)));
              }
              return found;
            }
          }
        });
  }

  public Optional<DeadLetter> find(QueueName queue, String id) {
    if (!DeadLetterRow.isId(id)) {
      return Optional.empty();
    }
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(FIND)) {
            statement.setString(1, queue.value());
            statement.setLong(2, Long.parseLong(id));
            try (var rows = statement.executeQuery()) {
              return rows.next() ? Optional.of(DeadLetterRow.of(rows)) : Optional.empty();
            }
          }
        });
  }

  /** Returns the causes of the newest dead letters, the most frequent first. */
  public List<Group> groups(QueueName queue) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(GROUPS)) {
            statement.setString(1, queue.value());
            statement.setInt(2, NEWEST);
            try (var rows = statement.executeQuery()) {
              var groups = new ArrayList<Group>();
              while (rows.next()) {
                groups.add(
                    new Group(
                        rows.getString(1),
                        rows.getLong(2),
                        rows.getLong(6),
                        Instants.of(rows, 4),
                        Instants.of(rows, 5),
                        rows.getString(7),
                        rows.getString(8)));
              }
              return groups;
            }
          }
        });
  }

  /**
   * Replaces the payload of a dead letter, if it still has the one that the operator saw.
   *
   * @param alongside writes more rows in the same transaction
   * @return false if the dead letter is gone or has another payload
   */
  public boolean repair(
      QueueName queue, String id, Payload before, Payload after, Alongside alongside) {
    return database.inTransaction(
        connection -> {
          int changed;
          try (var statement = connection.prepareStatement(REPAIR)) {
            statement.setBytes(1, after.unsafeBytes());
            statement.setInt(2, StoredCodes.of(after.form()));
            statement.setString(3, after.contentType());
            statement.setString(4, queue.value());
            statement.setLong(5, Long.parseLong(id));
            statement.setBytes(6, before.unsafeBytes());
            changed = statement.executeUpdate();
          }
          if (changed == 1) {
            alongside.write(connection, changed);
          }
          return changed == 1;
        });
  }

  private static List<DeadLetter> letters(
      Connection connection,
      QueueName queue,
      Filter filter,
      Order order,
      long behind,
      Page.Request request)
      throws SQLException {
    try (var statement = prepare(connection, order.page, queue, filter, behind, limits(request));
        var rows = statement.executeQuery()) {
      var letters = new ArrayList<DeadLetter>();
      while (rows.next()) {
        letters.add(DeadLetterRow.of(rows));
      }
      return letters;
    }
  }

  private static List<Number> limits(Page.Request request) {
    return List.of(request.limit() + 1, request.maxBytes());
  }

  private static PreparedStatement prepare(
      Connection connection, String sql, QueueName queue, Filter filter, long bound, List<?> last)
      throws SQLException {
    var conditions = new ArrayList<String>(List.of("true"));
    var values = new ArrayList<Object>(List.of(queue.value(), bound));
    filter.session().ifPresent(is -> add(conditions, values, "d.session = ?", is.value()));
    filter
        .reason()
        .ifPresent(
            is ->
                add(
                    conditions,
                    values,
                    "strpos(lower(d.reason || ' ' || d.last_error), lower(?)) > 0",
                    is));
    filter.fingerprint().ifPresent(is -> add(conditions, values, FINGERPRINT + " = ?", is));
    filter.from().ifPresent(at -> add(conditions, values, "d.dead_at >= ?", time(at)));
    filter.to().ifPresent(at -> add(conditions, values, "d.dead_at < ?", time(at)));
    filter.upTo().ifPresent(id -> add(conditions, values, "d.id <= ?", id));
    values.addAll(last);
    var statement =
        connection.prepareStatement(sql.replace("<conditions>", String.join(" AND ", conditions)));
    for (int i = 0; i < values.size(); i++) {
      statement.setObject(i + 1, values.get(i));
    }
    return statement;
  }

  private static Object time(Instant at) {
    return at.atOffset(ZoneOffset.UTC);
  }

  private static void add(
      List<String> conditions, List<Object> values, String condition, Object value) {
    conditions.add(condition);
    values.add(value);
  }
}
