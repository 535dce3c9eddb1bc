package dev.sessionkeeper.postgres.send;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Micros;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.jdbc.StorableText;
import dev.sessionkeeper.postgres.row.PropertyText;
import dev.sessionkeeper.postgres.row.StoredCodes;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Messages as the arrays of one statement, one per column. A column that no message has is not sent
 * at all, and a value that all messages share is sent once.
 */
public final class MessageColumns {
  private final UUID[] keys;
  private final String @Nullable [] sessions;
  private final String[] ids;
  private final short[] forms;
  private final String[] types;
  private final byte[][] bodies;
  private final @Nullable String[] properties;
  private final @Nullable Long[] ttls;
  private final @Nullable OffsetDateTime[] notBefores;
  private final DivideByReader division;
  private final BatchSizes sizes = new BatchSizes();
  private boolean needKeys;
  private boolean haveProperties;
  private boolean haveTtls;
  private boolean haveNotBefores;

  MessageColumns(
      Map<UUID, Message> messages, QueueMode mode, Map<MessageId, UUID> shared, long[] parts) {
    int count = messages.size();
    keys = new UUID[count];
    sessions = mode == QueueMode.ORDERED ? new String[count] : null;
    ids = new String[count];
    forms = new short[count];
    types = new String[count];
    bodies = new byte[count][];
    properties = new String[count];
    ttls = new Long[count];
    notBefores = new OffsetDateTime[count];
    var given = List.copyOf(messages.entrySet());
    division = DivideByReader.among(parts, List.copyOf(messages.values()));
    for (int i = 0; i < count; i++) {
      var next = given.get(division.at(i));
      keys[i] = next.getKey();
      put(i, next.getValue());
      putBody(i, next.getValue(), shared);
    }
  }

  private void put(int i, Message message) {
    if (sessions != null) {
      sessions[i] = message.session().map(SessionId::value).orElseThrow();
    }
    ids[i] = message.id().value();
    needKeys |= !MessageKey.isTimed(keys[i]);
    types[i] = StorableText.storable(message.payload().contentType());
    properties[i] = PropertyText.of(message.properties());
    haveProperties |= properties[i] != null;
    ttls[i] = message.ttl().map(Micros::of).orElse(null);
    haveTtls |= ttls[i] != null;
    notBefores[i] = message.notBefore().map(at -> at.atOffset(ZoneOffset.UTC)).orElse(null);
    haveNotBefores |= notBefores[i] != null;
  }

  private void putBody(int i, Message message, Map<MessageId, UUID> shared) {
    var body = shared.isEmpty() ? null : shared.get(message.id());
    short form = StoredCodes.of(message.payload().form());
    forms[i] = body == null ? form : SharedPayloadReference.form(form);
    bodies[i] = body == null ? message.payload().unsafeBytes() : SharedPayloadReference.bytes(body);
    if (division.isOtherReader(i)) {
      sizes.end();
    }
    sizes.add(bodies[i].length, body != null, division.bucket(i));
  }

  /** Returns the sequence numbers of all messages, given the first number of each batch. */
  LongStream numbers(Long[] firsts) {
    return LongStream.of(division.inFirstOrder(sizes.numbers(firsts).toArray()));
  }

  /** Sets parameters 2 to 13 of the function. */
  void bind(Connection connection, PreparedStatement statement) throws SQLException {
    set(connection, statement, 2, "text", sessions);
    set(connection, statement, 3, "text", ids);
    set(connection, statement, 4, "uuid", needKeys ? keys : null);
    set(connection, statement, 5, "int2", areFormsAlike() ? Arrays.copyOf(forms, 1) : forms);
    set(connection, statement, 6, "text", areTypesAlike() ? Arrays.copyOf(types, 1) : types);
    set(connection, statement, 7, "bytea", bodies);
    set(connection, statement, 8, "text", haveProperties ? properties : null);
    set(connection, statement, 9, "int8", haveTtls ? ttls : null);
    set(connection, statement, 10, "timestamptz", haveNotBefores ? notBefores : null);
    set(connection, statement, 11, "int4", sizes.sizes());
    set(connection, statement, 12, "int8", sizes.weights());
    set(connection, statement, 13, "int8", sizes.buckets());
  }

  private static void set(
      Connection connection,
      PreparedStatement statement,
      int parameter,
      String type,
      @Nullable Object column)
      throws SQLException {
    statement.setArray(parameter, column == null ? null : SqlArray.of(connection, type, column));
  }

  private boolean areFormsAlike() {
    for (short form : forms) {
      if (form != forms[0]) {
        return false;
      }
    }
    return true;
  }

  private boolean areTypesAlike() {
    for (var type : types) {
      if (!type.equals(types[0])) {
        return false;
      }
    }
    return true;
  }
}
