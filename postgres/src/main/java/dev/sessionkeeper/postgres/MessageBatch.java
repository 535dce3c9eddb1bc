package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Messages of one or several sends as the columns of one statement. An id that comes twice is
 * stored once, the first time.
 */
final class MessageBatch {
  private static final String SEND =
      """
      SELECT numbers, are_stored FROM keeper.send(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """;
  private static final String LOOK_UP =
      """
      SELECT d.key, d.seq FROM keeper.duplicate d WHERE d.queue = ? AND d.key = ANY (?)
      """; // duplicate_pkey (queue, key)
  private static final String REMEMBERS = "SELECT duplicate_us > 0 FROM keeper.queue WHERE id = ?";

  private final QueueMode mode;
  private final List<List<Message>> sends;
  private final Map<UUID, Message> distinct;
  private final Map<MessageId, UUID> shared;

  private MessageBatch(
      QueueMode mode,
      List<List<Message>> sends,
      Map<UUID, Message> distinct,
      Map<MessageId, UUID> shared) {
    this.mode = mode;
    this.sends = sends;
    this.distinct = distinct;
    this.shared = shared;
  }

  /** Where a message is. */
  record Place(long sequence, boolean isNew) {}

  /** The queue has no duplicate window, so nobody knows what was stored and handled since. */
  static final class NotRemembered extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  static MessageBatch of(QueueMode mode, List<List<Message>> sends) {
    return of(mode, sends, Map.of());
  }

  /**
   * As {@link #of(QueueMode, List)}.
   *
   * @param shared the messages whose bodies are among the shared ones, and under which ids
   */
  static MessageBatch of(QueueMode mode, List<List<Message>> sends, Map<MessageId, UUID> shared) {
    var distinct = new LinkedHashMap<UUID, Message>();
    for (var send : sends) {
      for (var message : send) {
        distinct.putIfAbsent(MessageKey.of(message.id()), message);
      }
    }
    return new MessageBatch(mode, sends, distinct, shared);
  }

  boolean isEmpty() {
    return distinct.isEmpty();
  }

  MessageBatch without(Set<UUID> stored) {
    var left = new LinkedHashMap<>(distinct);
    left.keySet().removeAll(stored);
    return new MessageBatch(mode, sends, left, shared);
  }

  /** Stores what is not known yet. */
  Map<UUID, Place> store(Connection connection, int queue, long shard) throws SQLException {
    var keys = distinct.keySet().toArray(UUID[]::new);
    var places = HashMap.<UUID, Place>newHashMap(keys.length);
    var unclear = new ArrayList<UUID>();
    try (var statement = connection.prepareStatement(SEND)) {
      statement.setInt(1, queue);
      new Columns(distinct.values(), mode, shared).bind(connection, statement, keys);
      statement.setLong(11, shard);
      try (var rows = statement.executeQuery()) {
        rows.next();
        var numbers = (@Nullable Long[]) rows.getArray(1).getArray();
        var stored = rows.getArray(2);
        var areStored = stored == null ? null : (Boolean[]) stored.getArray();
        for (int i = 0; i < keys.length; i++) {
          var number = numbers[i];
          if (number == null) {
            unclear.add(keys[i]);
          } else {
            places.put(keys[i], new Place(number, areStored == null || areStored[i]));
          }
        }
      }
    }
    if (!unclear.isEmpty()) {
      // Stored by somebody else while we waited for it: only a new statement sees it.
      read(connection, queue, unclear.toArray(UUID[]::new))
          .forEach((key, sequence) -> places.put(key, new Place(sequence, false)));
    }
    return places;
  }

  /** Which of the messages are stored already. */
  Map<UUID, Place> lookUp(Connection connection, int queue) throws SQLException {
    try (var statement = connection.prepareStatement(REMEMBERS)) {
      statement.setInt(1, queue);
      try (var rows = statement.executeQuery()) {
        if (!rows.next() || !rows.getBoolean(1)) {
          throw new NotRemembered();
        }
      }
    }
    var places = new HashMap<UUID, Place>();
    read(connection, queue, distinct.keySet().toArray(UUID[]::new))
        .forEach((key, sequence) -> places.put(key, new Place(sequence, true)));
    return places;
  }

  private static Map<UUID, Long> read(Connection connection, int queue, UUID[] keys)
      throws SQLException {
    try (var statement = connection.prepareStatement(LOOK_UP)) {
      statement.setInt(1, queue);
      statement.setArray(2, SqlArray.of(connection, "uuid", keys));
      try (var rows = statement.executeQuery()) {
        var found = new HashMap<UUID, Long>();
        while (rows.next()) {
          found.put(rows.getObject(1, UUID.class), rows.getLong(2));
        }
        return found;
      }
    }
  }

  /** The answer of every send: a message is new only the first time its id comes. */
  List<List<SendOutcome>> outcomes(Map<UUID, Place> places) {
    var told = new HashSet<UUID>();
    var answers = new ArrayList<List<SendOutcome>>(sends.size());
    for (var send : sends) {
      var answer = new ArrayList<SendOutcome>(send.size());
      for (var message : send) {
        var key = MessageKey.of(message.id());
        var place = places.get(key);
        if (place == null) {
          throw new IllegalStateException("No answer for message " + message.id());
        }
        answer.add(
            place.isNew() && told.add(key)
                ? new SendOutcome.Stored(message.id(), place.sequence())
                : new SendOutcome.Duplicate(message.id(), place.sequence()));
      }
      answers.add(answer);
    }
    return answers;
  }

  /** One array per column. */
  private static final class Columns {
    private final String @Nullable [] sessions;
    private final String[] ids;
    private final short[] forms;
    private final String[] types;
    private final byte[][] bodies;
    private final @Nullable String[] properties;
    private final @Nullable Long[] ttls;
    private final @Nullable OffsetDateTime[] notBefores;

    Columns(Iterable<Message> messages, QueueMode mode, Map<MessageId, UUID> shared) {
      var all = new ArrayList<Message>();
      messages.forEach(all::add);
      int count = all.size();
      sessions = mode == QueueMode.ORDERED ? new String[count] : null;
      ids = new String[count];
      forms = new short[count];
      types = new String[count];
      bodies = new byte[count][];
      properties = new String[count];
      ttls = new Long[count];
      notBefores = new OffsetDateTime[count];
      for (int i = 0; i < count; i++) {
        put(i, all.get(i));
        var body = shared.get(all.get(i).id());
        if (body != null) {
          forms[i] = SharedBodies.shared(forms[i]);
          bodies[i] = SharedBodies.reference(body);
        }
      }
    }

    private void put(int i, Message message) {
      if (sessions != null) {
        sessions[i] = message.session().map(SessionId::value).orElseThrow();
      }
      ids[i] = message.id().value();
      forms[i] = Codes.of(message.payload().form());
      types[i] = Texts.storable(message.payload().contentType());
      bodies[i] = message.payload().unsafeBytes();
      properties[i] = PropertyText.of(message.properties());
      ttls[i] = message.ttl().map(QueueTable::micros).orElse(null);
      notBefores[i] = message.notBefore().map(at -> at.atOffset(ZoneOffset.UTC)).orElse(null);
    }

    void bind(Connection connection, java.sql.PreparedStatement statement, UUID[] keys)
        throws SQLException {
      statement.setArray(2, sessions == null ? null : SqlArray.of(connection, "text", sessions));
      statement.setArray(3, SqlArray.of(connection, "text", ids));
      statement.setArray(4, SqlArray.of(connection, "uuid", keys));
      statement.setArray(5, SqlArray.of(connection, "int2", forms));
      statement.setArray(6, SqlArray.of(connection, "text", types));
      statement.setArray(7, SqlArray.of(connection, "bytea", bodies));
      statement.setArray(8, SqlArray.of(connection, "text", properties));
      statement.setArray(9, SqlArray.of(connection, "int8", ttls));
      statement.setArray(10, SqlArray.of(connection, "timestamptz", notBefores));
    }
  }
}
