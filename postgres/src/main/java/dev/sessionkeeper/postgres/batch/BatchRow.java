package dev.sessionkeeper.postgres.batch;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.postgres.row.HandedRow;
import dev.sessionkeeper.postgres.row.PropertyText;
import dev.sessionkeeper.postgres.row.StoredCodes;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A message batch as a read returns it, message by message. */
public final class BatchRow {
  /** The columns of a batch, behind those of a message. */
  public static final String COLUMNS =
      ", sessions, ids, forms, types, bodies, props, ttls, not_befores";

  private final long first;
  private final long done;
  private final boolean isShared;
  private final Instant expires;
  private final Instant enqueuedAt;
  private final Instant moment;
  private final SessionId[] sessions;
  private final String[] ids;
  private final Short[] forms;
  private final String[] types;
  private final byte[][] bodies;
  private final @Nullable String @Nullable [] properties;
  private final @Nullable Long @Nullable [] ttls;
  private final @Nullable Timestamp @Nullable [] notBefores;

  /**
   * Reads the row.
   *
   * @param mine the buckets of this reader; messages in other buckets count as done
   */
  public BatchRow(ResultSet row, long mine) throws SQLException {
    first = HandedRow.sequence(row);
    expires = HandedRow.until(row);
    enqueuedAt = HandedRow.enqueuedAt(row);
    moment = Instants.of(row, 11);
    var names = (String[]) array(row, 18);
    sessions = new SessionId[names.length];
    for (int i = 0; i < names.length; i++) {
      sessions[i] = SessionId.of(names[i]);
    }
    isShared = (HandedRow.buckets(row) & ~mine) != 0;
    done = HandedRow.epoch(row) | (isShared ? ofOthers(mine) : 0);
    ids = (String[]) array(row, 19);
    forms = (Short[]) array(row, 20);
    types = (String[]) array(row, 21);
    bodies = (byte[][]) array(row, 22);
    properties = (String[]) optionalArray(row, 23);
    ttls = (Long[]) optionalArray(row, 24);
    notBefores = (Timestamp[]) optionalArray(row, 25);
  }

  private static Object array(ResultSet row, int column) throws SQLException {
    return row.getArray(column).getArray();
  }

  private static @Nullable Object optionalArray(ResultSet row, int column) throws SQLException {
    var array = row.getArray(column);
    return array == null ? null : array.getArray();
  }

  private long ofOthers(long mine) {
    long bits = 0;
    for (int i = 0; i < sessions.length; i++) {
      bits |= Buckets.have(mine, sessions[i]) ? 0 : 1L << i;
    }
    return bits;
  }

  public int size() {
    return sessions.length;
  }

  public SessionId session(int place) {
    return sessions[place];
  }

  /**
   * Returns whether the message is completed, has a row of its own, or belongs to another reader.
   */
  public boolean isDone(int place) {
    return (done >> place & 1) == 1;
  }

  Instant expires(int place) {
    var ttl = ttls == null ? null : ttls[place];
    return ttl == null ? expires : enqueuedAt.plus(ttl, ChronoUnit.MICROS);
  }

  public FoundMessage message(int place) {
    var ttl = ttls == null ? null : ttls[place];
    var notBefore = notBefores == null ? null : notBefores[place];
    var dueAt = Optional.ofNullable(notBefore).map(Timestamp::toInstant);
    var message =
        new Message(
            MessageId.of(ids[place]),
            Optional.of(sessions[place]),
            Payload.stored(
                bodies[place],
                StoredCodes.form(forms.length == 1 ? forms[0] : forms[place]),
                types.length == 1 ? types[0] : types[place]),
            properties == null ? Map.of() : PropertyText.parse(properties[place]),
            Optional.ofNullable(ttl).map(micros -> Duration.of(micros, ChronoUnit.MICROS)),
            dueAt);
    return new FoundMessage(
        new Delivery(message, first + place, 1, enqueuedAt),
        !expires(place).isAfter(moment),
        dueAt,
        expires(place));
  }

  public MessageBatch open() {
    return new MessageBatch(first, sessions, done, isShared);
  }
}
