package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.SendOutcome;
import java.sql.Connection;
import java.sql.SQLException;
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

  /** What the messages of all sends are told apart by, one after the other. */
  private final List<UUID> keys;

  private final Map<UUID, Message> distinct;
  private final Map<MessageId, UUID> shared;

  private MessageBatch(
      QueueMode mode,
      List<List<Message>> sends,
      List<UUID> keys,
      Map<UUID, Message> distinct,
      Map<MessageId, UUID> shared) {
    this.mode = mode;
    this.sends = sends;
    this.keys = keys;
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
    var keys = new ArrayList<UUID>();
    var distinct = new LinkedHashMap<UUID, Message>();
    for (var send : sends) {
      for (var message : send) {
        var key = MessageKey.of(message.id());
        keys.add(key);
        distinct.putIfAbsent(key, message);
      }
    }
    return new MessageBatch(mode, sends, keys, distinct, shared);
  }

  boolean isEmpty() {
    return distinct.isEmpty();
  }

  MessageBatch without(Set<UUID> stored) {
    var left = new LinkedHashMap<>(distinct);
    left.keySet().removeAll(stored);
    return new MessageBatch(mode, sends, keys, left, shared);
  }

  /** Stores what is not known yet. */
  Map<UUID, Place> store(Connection connection, int queue, long shard) throws SQLException {
    var asked = distinct.keySet().toArray(UUID[]::new);
    var places = HashMap.<UUID, Place>newHashMap(asked.length);
    var unclear = new ArrayList<UUID>();
    try (var statement = connection.prepareStatement(SEND)) {
      statement.setInt(1, queue);
      new MessageColumns(distinct, mode, shared).bind(connection, statement);
      statement.setLong(11, shard);
      try (var rows = statement.executeQuery()) {
        rows.next();
        var numbers = (@Nullable Long[]) rows.getArray(1).getArray();
        var stored = rows.getArray(2);
        var areStored = stored == null ? null : (Boolean[]) stored.getArray();
        for (int i = 0; i < asked.length; i++) {
          var number = numbers[i];
          if (number == null) {
            unclear.add(asked[i]);
          } else {
            places.put(asked[i], new Place(number, areStored == null || areStored[i]));
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
    boolean areAllDifferent = keys.size() == distinct.size();
    var told = new HashSet<UUID>();
    var next = keys.iterator();
    var answers = new ArrayList<List<SendOutcome>>(sends.size());
    for (var send : sends) {
      var answer = new ArrayList<SendOutcome>(send.size());
      for (var message : send) {
        var key = next.next();
        var place = places.get(key);
        if (place == null) {
          throw new IllegalStateException("No answer for message " + message.id());
        }
        answer.add(
            place.isNew() && (areAllDifferent || told.add(key))
                ? new SendOutcome.Stored(message.id(), place.sequence())
                : new SendOutcome.Duplicate(message.id(), place.sequence()));
      }
      answers.add(answer);
    }
    return answers;
  }
}
