package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Who reads a queue, in the database: one statement for each step. */
final class ReaderTable {
  private static final String BECOME =
      "SELECT my_epoch, my_buckets, known_to, lease_us FROM keeper.become_reader(?, ?, ?, ?, ?)";
  private static final String READ =
      "SELECT "
          + HandedRow.COLUMNS
          + BundleRow.COLUMNS
          + " FROM keeper.read_new(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String READ_FOUND =
      "SELECT "
          + HandedRow.COLUMNS
          + BundleRow.COLUMNS
          + " FROM keeper.read_found(?, ?, ?::pg_snapshot, ?::pg_snapshot, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String BEAT = "SELECT keeper.beat_reader(?, ?)";
  private static final String WRITE_DOWN =
      "SELECT of_session, held_until, news_for, of_epoch, of_buckets, known_to FROM keeper.write_down(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String LOOK =
      "SELECT free, must_stop, are_dead, masks FROM keeper.look_at_readers(?, ?)";
  private static final String BURY = "SELECT keeper.bury_readers(?, ?)";
  private static final String FORGET = "SELECT keeper.forget_reader(?, ?)";

  private final OrderedQueue queue;

  ReaderTable(OrderedQueue queue) {
    this.queue = queue;
  }

  /** What a new reader needs to know. */
  record Begun(long epoch, long buckets, String knownTo, Duration lease) {}

  /**
   * Becomes a reader.
   *
   * @param least how much must be new for that
   * @param joins whether it takes its part where others read already
   * @return empty when there is one that it may not join, or should be none
   */
  Optional<Begun> become(int least, Duration alone, boolean joins) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(BECOME)) {
                statement.setInt(1, queue.id());
                statement.setString(2, queue.node().id());
                statement.setInt(3, least);
                statement.setLong(4, QueueTable.micros(alone));
                statement.setBoolean(5, joins);
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  long epoch = rows.getLong(1);
                  return rows.wasNull()
                      ? Optional.empty()
                      : Optional.of(
                          new Begun(
                              epoch,
                              rows.getLong(2),
                              rows.getString(3),
                              Duration.ofNanos(rows.getLong(4) * 1000)));
                }
              }
            });
  }

  /** New messages of a session, and when the first of them is too old. */
  static final class Fresh {
    final List<ClaimedLane.Found> found = new ArrayList<>();
    Instant expires = Instant.MAX;

    private void add(ClaimedLane.Found next, Instant expiresAt) {
      found.add(next);
      expires = expiresAt.isBefore(expires) ? expiresAt : expires;
    }

    private void putInOrder() {
      found.sort(Comparator.comparingLong(next -> next.delivery().sequence()));
    }
  }

  /** What a look brought. */
  static final class News {
    private final long mine;
    final Map<SessionId, Fresh> messages = new LinkedHashMap<>();
    final List<OpenBundle> bundles = new ArrayList<>();
    final List<ClaimSessions.News> heldLanes = new ArrayList<>();
    private boolean hasRows;
    boolean isLost;

    /** Where there is more to read: the number after which it is. */
    Optional<Long> moreAfter = Optional.empty();

    long lastSequence;
    int count;
    long bytes;
    String knownTo = "";
    Instant moment = Instant.EPOCH;
    long epochs;
    long firstLane = Long.MAX_VALUE;

    /** Whether something was locked, and a later round has to look again. */
    boolean isLate;

    /** What is to be read without locks. */
    private @Nullable Found found;

    News(Reading reading) {
      this.mine = reading.buckets();
    }

    private void add(ResultSet row) throws SQLException {
      switch (HandedRow.kind(row)) {
        case HandedRow.NEW -> {
          var session = HandedRow.session(row);
          var expires = HandedRow.until(row);
          add(session, ClaimedLane.Found.of(row, session, expires), expires);
          hasRows = true;
        }
        case HandedRow.BUNDLE -> add(new BundleRow(row, mine));
        case HandedRow.NEWS ->
            heldLanes.add(
                new ClaimSessions.News(
                    HandedRow.session(row), HandedRow.epoch(row), HandedRow.node(row)));
        case HandedRow.KNOWN -> {
          knownTo = HandedRow.node(row);
          moreAfter = HandedRow.hasMessage(row) ? Optional.of(HandedRow.sequence(row)) : moreAfter;
        }
        case HandedRow.LOST -> isLost = true;
        case HandedRow.FOUND -> found = Found.of(row);
        default -> {
          moment = HandedRow.until(row);
          epochs = HandedRow.epoch(row);
          lastSequence = HandedRow.lastSequence(row);
          isLate = HandedRow.isLate(row);
          if (HandedRow.hasMessage(row)) {
            firstLane = HandedRow.sequence(row);
          }
        }
      }
    }

    /** All at once, so that a look that broke in the middle may be repeated. */
    private void takeMessagesOf(News rest) {
      messages.putAll(rest.messages);
      bundles.addAll(rest.bundles);
      hasRows |= rest.hasRows;
      count += rest.count;
      bytes += rest.bytes;
    }

    private void add(BundleRow bundle) {
      bundles.add(bundle.open());
      for (int i = 0; i < bundle.size(); i++) {
        if (!bundle.isDone(i)) {
          add(bundle.session(i), bundle.message(i), bundle.expires(i));
        }
      }
    }

    /** Rows come behind bundles, whatever their numbers are. */
    private void putInOrder() {
      if (!bundles.isEmpty() && hasRows) {
        messages.values().forEach(Fresh::putInOrder);
      }
    }

    private void add(SessionId session, ClaimedLane.Found found, Instant expires) {
      messages.computeIfAbsent(session, s -> new Fresh()).add(found, expires);
      count++;
      bytes += found.delivery().payload().size();
    }
  }

  /** What a look found but did not bring, because it had locked something. */
  private record Found(
      @Nullable Array bundles,
      @Nullable Array withLanes,
      @Nullable Array relieved,
      @Nullable Long upTo,
      boolean areRows,
      boolean isByTransaction,
      OffsetDateTime moment) {
    static Found of(ResultSet row) throws SQLException {
      return new Found(
          row.getArray("ttls"),
          row.getArray("sessions"),
          row.getArray("ids"),
          row.getObject("seq", Long.class),
          row.getBoolean("is_expired"),
          row.getInt("attempts") == 1,
          row.getObject("until", OffsetDateTime.class));
    }
  }

  /** Extends the lease of the reader; false when it has ended. */
  boolean beat(long epoch) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(BEAT)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, epoch);
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  return rows.getBoolean(1);
                }
              }
            });
  }

  /**
   * What became visible since that snapshot, or the next page of it.
   *
   * @param relieves whether sessions whose lanes are not needed any more are carried again
   * @param carried sessions in memory, when the answer to a look that let lanes go was lost
   */
  News read(
      Reading reading, int most, long mostBytes, boolean relieves, Optional<String[]> carried) {
    var news = readSome(reading, most, mostBytes, relieves, carried);
    var found = news.found;
    if (found != null) {
      queue
          .connections()
          .look(
              connection -> {
                readFound(connection, reading, news, found);
                return true;
              });
    }
    news.putInOrder();
    return news;
  }

  /** Reads bodies by a statement that locks nothing: it may take as long as it wants. */
  private void readFound(Connection connection, Reading reading, News news, Found found)
      throws SQLException {
    try (var statement = BinaryAnswer.prepare(connection, READ_FOUND)) {
      statement.setInt(1, queue.id());
      statement.setLong(2, reading.buckets());
      statement.setString(3, reading.knownTo());
      statement.setString(4, news.knownTo);
      statement.setLong(5, reading.after());
      statement.setObject(6, found.upTo, Types.BIGINT);
      statement.setArray(7, found.bundles);
      statement.setBoolean(8, found.areRows);
      statement.setBoolean(9, found.isByTransaction);
      statement.setArray(10, found.withLanes);
      statement.setArray(11, found.relieved);
      statement.setObject(12, found.moment);
      var rest = new News(reading);
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          rest.add(rows);
        }
      }
      news.takeMessagesOf(rest);
    }
  }

  private News readSome(
      Reading reading, int most, long mostBytes, boolean relieves, Optional<String[]> carried) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = BinaryAnswer.prepare(connection, READ)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, reading.epoch());
                statement.setString(3, reading.knownTo());
                statement.setLong(4, reading.knownSequence());
                statement.setString(5, reading.goal());
                statement.setLong(6, reading.after());
                statement.setInt(7, most);
                statement.setLong(8, mostBytes);
                statement.setBoolean(9, reading.isFirst());
                statement.setBoolean(10, relieves);
                statement.setArray(
                    11,
                    carried.isPresent() ? SqlArray.of(connection, "text", carried.get()) : null);
                try (var rows = statement.executeQuery()) {
                  var news = new News(reading);
                  while (rows.next()) {
                    news.add(rows);
                  }
                  return news;
                }
              }
            });
  }

  /**
   * A session as it is written down.
   *
   * @param epoch zero when nobody holds it
   * @param head its place among those that wait, zero when its lane has to be looked at; of one
   *     that is held, the last message that was handed out
   */
  record Line(SessionId session, long epoch, String owner, Duration left, long head) {}

  /**
   * What is written down at once.
   *
   * @param epoch of the reader
   * @param bundles those of which messages of these sessions are in memory
   * @param wishes what others have asked for, which is answered by it
   * @param given sessions that are given to whoever has asked for any
   * @param end whether it is the end of the reading
   * @param known at the end: up to which snapshot nothing is left that would have to be found
   */
  record Writing(
      long epoch,
      List<Line> lines,
      long[] bundles,
      AskTable.Wishes wishes,
      List<SessionId> given,
      End end,
      Optional<String> known) {}

  /** Whether a reading ends. */
  enum End {
    NONE(0),
    /** This process reads no more for a while. */
    STOPS(1),
    /** It goes on with another part of the buckets. */
    MOVES(2);

    /** As the function is told it. */
    private final int code;

    End(int code) {
      this.code = code;
    }
  }

  /**
   * What was written down.
   *
   * @param leaseEnds when the leases of held sessions end
   * @param heldLanes lanes of others that have got more messages
   * @param next how it goes on, where it moves; one at most
   */
  record Written(
      Map<SessionId, Instant> leaseEnds, List<ClaimSessions.News> heldLanes, List<Begun> next) {
    /** Returns whether the row is about a session; the last one is not. */
    private boolean add(ResultSet row, Duration lease) throws SQLException {
      if (row.getString(1) == null) {
        long epoch = row.getLong(4);
        if (!row.wasNull()) {
          next.add(new Begun(epoch, row.getLong(5), row.getString(6), lease));
        }
        return false;
      }
      var session = SessionId.of(row.getString(1));
      if (row.getString(3) == null) {
        leaseEnds.put(session, HandedRow.instant(row, 2));
      } else {
        heldLanes.add(new ClaimSessions.News(session, row.getLong(4), row.getString(3)));
      }
      return true;
    }
  }

  /**
   * Gives sessions their lanes.
   *
   * @return empty when this process is not the reader any more, and nothing was written
   */
  Optional<Written> writeDown(Writing writing, Duration lease) {
    var lines = writing.lines;
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(WRITE_DOWN)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, writing.epoch);
                statement.setString(3, queue.node().id());
                statement.setArray(
                    4,
                    SqlArray.of(
                        connection,
                        "text",
                        lines.stream().map(line -> line.session.value()).toArray(String[]::new)));
                statement.setArray(
                    5,
                    SqlArray.of(
                        connection, "int8", lines.stream().mapToLong(Line::epoch).toArray()));
                statement.setArray(
                    6,
                    SqlArray.of(
                        connection,
                        "text",
                        lines.stream().map(Line::owner).toArray(String[]::new)));
                statement.setArray(
                    7,
                    SqlArray.of(
                        connection,
                        "int8",
                        lines.stream().mapToLong(line -> line.left.toNanos() / 1000).toArray()));
                statement.setArray(
                    8,
                    SqlArray.of(
                        connection, "int8", lines.stream().mapToLong(Line::head).toArray()));
                statement.setArray(9, SqlArray.of(connection, "int8", writing.bundles));
                statement.setArray(10, SqlArray.of(connection, "int8", writing.wishes.ids()));
                statement.setArray(
                    11,
                    SqlArray.of(
                        connection,
                        "text",
                        writing.wishes.sessions.stream()
                            .map(SessionId::value)
                            .toArray(String[]::new)));
                statement.setArray(
                    12,
                    SqlArray.of(
                        connection,
                        "text",
                        writing.given.stream().map(SessionId::value).toArray(String[]::new)));
                statement.setInt(13, writing.end.code);
                statement.setString(14, writing.known.orElse(null));
                statement.setLong(15, queue.node().shard());
                try (var rows = statement.executeQuery()) {
                  var written = new Written(new HashMap<>(), new ArrayList<>(), new ArrayList<>());
                  boolean isReader = false;
                  while (rows.next()) {
                    isReader |= !written.add(rows, lease);
                  }
                  return isReader ? Optional.of(written) : Optional.empty();
                }
              }
            });
  }

  /**
   * What a reader has to know of the others.
   *
   * @param free the buckets that it should have and nobody else has
   * @param areDead whether a reader has left without a word
   * @param parts the buckets of each
   */
  record Others(long free, boolean mustStop, boolean areDead, long[] parts) {}

  /** Empty when this process is not a reader any more. */
  Optional<Others> others(long epoch) {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = connection.prepareStatement(LOOK)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, epoch);
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  long free = rows.getLong(1);
                  return rows.wasNull()
                      ? Optional.empty()
                      : Optional.of(
                          new Others(
                              free,
                              rows.getBoolean(2),
                              rows.getBoolean(3),
                              PartsOfReaders.of(rows.getArray(4))));
                }
              }
            });
  }

  /** Ends readers whose lease has run out: what they may have had in hand gets lanes. */
  void buryDead() {
    queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(BURY)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, queue.node().shard());
                return statement.execute();
              }
            });
  }

  /** Ends a reading that this process began without learning of it. */
  void forgetOwn() {
    queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(FORGET)) {
                statement.setInt(1, queue.id());
                statement.setString(2, queue.node().id());
                return statement.execute();
              }
            });
  }
}
