package dev.sessionkeeper.postgres.send;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
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

/**
 * The messages of one or several sends that one statement stores. An id that occurs twice is stored
 * once, at its first occurrence.
 */
public final class SendBatch {
  private static final String SEND =
      """
      SELECT firsts, known_keys, known_seqs FROM keeper.send(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::int8range, ?, ?, ?)
      """;
  private static final String LOOK_UP =
      """
      SELECT d.key, d.seq FROM keeper.duplicate d WHERE d.queue = ? AND d.key = ANY (?)
      UNION ALL
      SELECT k.key, s.first_seq + k.n - 1 FROM keeper.sent s CROSS JOIN LATERAL unnest(s.keys) WITH ORDINALITY k(key, n)
       WHERE s.queue = ? AND s.span && ?::int8range AND k.key = ANY (?)
      """; // duplicate_pkey (queue, key), sent_span
  private static final String REMEMBERS = "SELECT duplicate_us > 0 FROM keeper.queue WHERE id = ?";

  private final Target target;
  private final List<List<Message>> sends;

  /** The keys of the messages of all sends, one after the other. */
  private final List<UUID> keys;

  private final Map<UUID, Message> distinct;
  private final IdUse use;

  private SendBatch(
      Target target,
      List<List<Message>> sends,
      List<UUID> keys,
      Map<UUID, Message> distinct,
      IdUse use) {
    this.target = target;
    this.sends = sends;
    this.keys = keys;
    this.distinct = distinct;
    this.use = use;
  }

  /**
   * The destination of the messages.
   *
   * @param shared the messages whose payloads are shared, with the ids of the payloads
   * @param readers the buckets of each reader, as far as is known
   */
  public record Target(QueueMode mode, Map<MessageId, UUID> shared, long[] readers) {}

  /** The place of a message in the queue. */
  public record Place(long sequence, boolean isNew) {}

  /**
   * Reports that the queue has no duplicate window, so the process cannot find out which messages
   * were stored and handled already.
   */
  public static final class NotRemembered extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /** Creates a batch that is stored in a transaction of its own. */
  static SendBatch of(QueueMode mode, List<List<Message>> sends, long[] readers) {
    return of(new Target(mode, Map.of(), readers), sends, IdUse.FIRST_TOGETHER);
  }

  /** Creates a batch that is stored in an application's transaction. */
  static SendBatch within(Target target, List<List<Message>> sends) {
    return of(target, sends, IdUse.FIRST_EACH);
  }

  private static SendBatch of(Target target, List<List<Message>> sends, IdUse ifFirst) {
    boolean areUnused = true;
    var keys = new ArrayList<UUID>();
    var distinct = new LinkedHashMap<UUID, Message>();
    for (var send : sends) {
      for (var message : send) {
        var key = MessageKey.of(message.id());
        keys.add(key);
        if (distinct.putIfAbsent(key, message) == null) {
          // Every id must be asked: each is used now.
          areUnused &= MessageId.claimFirstUse(key);
        }
      }
    }
    return new SendBatch(target, sends, keys, distinct, areUnused ? ifFirst : IdUse.ANY);
  }

  boolean isEmpty() {
    return distinct.isEmpty();
  }

  /** Returns the messages that are left. Their ids may have been used by now. */
  SendBatch without(Set<UUID> stored) {
    var left = new LinkedHashMap<>(distinct);
    left.keySet().removeAll(stored);
    return new SendBatch(target, sends, keys, left, IdUse.ANY);
  }

  /** Stores the messages that are not stored yet, and returns the places of all. */
  Map<UUID, Place> store(Connection connection, int queue, long shard) throws SQLException {
    var places = HashMap.<UUID, Place>newHashMap(distinct.size());
    var left = this;
    while (!left.isEmpty() && !left.storeNew(connection, queue, shard, places)) {
      // Nothing was stored: some are stored already, or they cannot be remembered together now.
      left =
          places.isEmpty()
              ? new SendBatch(target, sends, keys, distinct, IdUse.FIRST_EACH)
              : left.without(places.keySet());
    }
    return places;
  }

  /** Stores all messages, or finds out which are stored already. */
  private boolean storeNew(Connection connection, int queue, long shard, Map<UUID, Place> places)
      throws SQLException {
    var columns = new MessageColumns(distinct, target.mode, target.shared, target.readers);
    try (var statement = connection.prepareStatement(SEND)) {
      statement.setInt(1, queue);
      columns.bind(connection, statement);
      KeyTimes.of(distinct.keySet()).bind(connection, statement, use);
      statement.setLong(19, shard);
      try (var rows = statement.executeQuery()) {
        rows.next();
        var numbers = rows.getArray(1);
        if (numbers == null) {
          var known = (UUID[]) rows.getArray(2).getArray();
          var sequences = (Long[]) rows.getArray(3).getArray();
          for (int i = 0; i < known.length; i++) {
            places.put(known[i], new Place(sequences[i], false));
          }
          return false;
        }
        var next = columns.numbers((Long[]) numbers.getArray()).iterator();
        distinct.keySet().forEach(key -> places.put(key, new Place(next.nextLong(), true)));
        return true;
      }
    }
  }

  /** Returns the messages that are stored already. */
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
      var asked = SqlArray.of(connection, "uuid", keys);
      statement.setInt(1, queue);
      statement.setArray(2, asked);
      statement.setInt(3, queue);
      statement.setString(4, KeyTimes.of(List.of(keys)).span());
      statement.setArray(5, asked);
      try (var rows = statement.executeQuery()) {
        var found = new HashMap<UUID, Long>();
        while (rows.next()) {
          found.put(rows.getObject(1, UUID.class), rows.getLong(2));
        }
        return found;
      }
    }
  }

  /** Returns the outcomes of each send. A message is new only at the first occurrence of its id. */
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
