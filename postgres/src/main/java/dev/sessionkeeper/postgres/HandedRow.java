package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads rows of the type {@code keeper.handed}: lanes and messages as they are handed out. */
final class HandedRow {
  /** The summary at the end. */
  static final int SUMMARY = 0;

  /** A lane, with a message or none. */
  static final int LANE = 1;

  /** A held lane has something new. */
  static final int NEWS = 2;

  /** The lease is not held any more. */
  static final int LOST = 3;

  /** A message of a session that has no lane. */
  static final int NEW = 4;

  /** Up to which snapshot was read. */
  static final int KNOWN = 5;

  /** Messages that were stored together. */
  static final int BUNDLE = 6;

  /** Messages that are to be read by a statement without locks. */
  static final int FOUND = 7;

  /** The columns, for statements. */
  static final String COLUMNS =
      "kind, session, epoch, until, node, seq, attempts, form, is_expired, enqueued_at, due_at,"
          + " not_before, ttl_us, message_id, content_type, body, properties";

  private HandedRow() {}

  static int kind(ResultSet row) throws SQLException {
    return row.getInt(1);
  }

  static SessionId session(ResultSet row) throws SQLException {
    return SessionId.of(row.getString(2));
  }

  static long epoch(ResultSet row) throws SQLException {
    return row.getLong(3);
  }

  static Instant until(ResultSet row) throws SQLException {
    return instant(row, 4);
  }

  /** The process of a lane with news; the owner of a claimed one. */
  static String node(ResultSet row) throws SQLException {
    return row.getString(5);
  }

  static long sequence(ResultSet row) throws SQLException {
    return row.getLong(6);
  }

  /** Of a summary: the last number that was given out. */
  static long lastSequence(ResultSet row) throws SQLException {
    return row.getLong(13);
  }

  /** Of a bundle: of which buckets it may have messages. */
  static long buckets(ResultSet row) throws SQLException {
    return row.getLong(13);
  }

  static boolean hasMessage(ResultSet row) throws SQLException {
    row.getLong(6);
    return !row.wasNull();
  }

  /** Of a summary: whether there are bundles that were not untied. */
  static boolean areBundlesLeft(ResultSet row) throws SQLException {
    return row.getInt(7) > 0;
  }

  /** Of a summary: whether something was locked, and a later round has to look again. */
  static boolean isLate(ResultSet row) throws SQLException {
    return row.getInt(8) > 0;
  }

  static boolean flag(ResultSet row) throws SQLException {
    return row.getBoolean(9);
  }

  /** When the message may be handed out; empty when at once. */
  static Optional<Instant> dueAt(ResultSet row) throws SQLException {
    return optionalInstant(row, 11);
  }

  static Delivery delivery(ResultSet row, Optional<SessionId> session) throws SQLException {
    var message =
        message(row, session, row.getInt(8), row.getString(15), row.getBytes(16), 14, 12, 13, 17);
    return new Delivery(message, row.getLong(6), row.getInt(7) + 1, instant(row, 10));
  }

  static Message message(
      ResultSet row,
      Optional<SessionId> session,
      int form,
      String contentType,
      byte[] body,
      int idColumn,
      int notBeforeColumn,
      int ttlColumn,
      int propertiesColumn)
      throws SQLException {
    long ttl = row.getLong(ttlColumn);
    var timeToLive =
        row.wasNull()
            ? Optional.<Duration>empty()
            : Optional.of(Duration.of(ttl, ChronoUnit.MICROS));
    return new Message(
        MessageId.of(row.getString(idColumn)),
        session,
        Payload.stored(body, Codes.form(form), contentType),
        PropertyText.parse(nullable(row, propertiesColumn)),
        timeToLive,
        optionalInstant(row, notBeforeColumn));
  }

  static Instant instant(ResultSet row, int column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  static Optional<Instant> optionalInstant(ResultSet row, int column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }

  private static @Nullable String nullable(ResultSet row, int column) throws SQLException {
    return row.getString(column);
  }
}
