package dev.sessionkeeper.postgres.queue;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.postgres.jdbc.AlsoWrite;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.postgres.jdbc.Micros;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The table of queues. Number and mode never change and are cached until the queue is deleted.
 * Statements read the settings they need, so a change takes effect in all processes at once.
 */
public final class QueueTable {
  private static final String CREATE =
      """
      WITH made AS (
        INSERT INTO keeper.queue (name, is_ordered, max_delivery_count, lock_us, ttl_us, duplicate_us, poison_policy)
        VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING
        RETURNING id)
      INSERT INTO keeper.discovery (queue, known) SELECT id, pg_current_snapshot() FROM made
      """; // queue_name_key (name)
  private static final String CHANGE =
      """
      UPDATE keeper.queue
         SET max_delivery_count = ?, lock_us = ?, ttl_us = ?, duplicate_us = ?, poison_policy = ?
       WHERE name = ?
      """;
  private static final String FIND =
      """
      SELECT id, is_ordered, max_delivery_count, lock_us, ttl_us, duplicate_us, poison_policy
        FROM keeper.queue WHERE name = ?
      """;

  private final Connections connections;
  private final Database database;
  private final Consumer<KnownQueue> onDeleted;
  private final ConcurrentHashMap<QueueName, KnownQueue> known = new ConcurrentHashMap<>();

  /**
   * Reads the queues of this database.
   *
   * @param onDeleted runs for each cached queue that was deleted
   */
  public QueueTable(Connections connections, Consumer<KnownQueue> onDeleted) {
    this.connections = connections;
    this.database = Database.of(connections.source());
    this.onDeleted = onDeleted;
  }

  /** Creates or changes a queue. Returns whether it was created. */
  public boolean declare(QueueName queue, QueueSettings settings, AlsoWrite alsoWrite) {
    return database.inTransaction(
        connection -> {
          if (create(connection, queue, settings)) {
            alsoWrite.write(connection, 1);
            return true;
          }
          var existing = find(connection, queue).orElseThrow().known().mode();
          if (existing != settings.mode()) {
            throw new KeeperException.QueueConflict(queue, existing);
          }
          change(connection, queue, settings);
          alsoWrite.write(connection, 0);
          return false;
        });
  }

  public Optional<QueueSettings> settings(QueueName queue) {
    var row = connections.look(connection -> find(connection, queue));
    forgetUnless(queue, row.map(Row::known));
    return row.map(Row::settings);
  }

  /**
   * Returns the queue as it is in the database now, without the cache.
   *
   * @throws KeeperException.UnknownQueue if there is none of that name
   */
  public KnownQueue current(QueueName queue) {
    settings(queue);
    return known(queue);
  }

  /** Forgets a queue that was deleted. */
  public void forget(int id) {
    known.values().stream().filter(one -> one.id() == id).toList().forEach(this::forget);
  }

  /** Forgets cached queues that were deleted. */
  public void lookAgain() {
    known.keySet().forEach(this::settings);
  }

  private void forgetUnless(QueueName queue, Optional<KnownQueue> current) {
    var remembered = known.get(queue);
    if (remembered != null && !current.equals(Optional.of(remembered))) {
      forget(remembered);
    }
  }

  private void forget(KnownQueue deleted) {
    known.remove(deleted.name(), deleted);
    onDeleted.accept(deleted);
  }

  public List<QueueName> names() {
    return connections.look(
        connection -> {
          try (var statement =
                  connection.prepareStatement("SELECT name FROM keeper.queue ORDER BY name");
              var rows = statement.executeQuery()) {
            var names = new ArrayList<QueueName>();
            while (rows.next()) {
              names.add(QueueName.of(rows.getString(1)));
            }
            return names;
          }
        });
  }

  /**
   * Returns the queue, from the cache if it is there.
   *
   * @throws KeeperException.UnknownQueue if there is none of that name
   */
  public KnownQueue known(QueueName queue) {
    var found = known.get(queue);
    if (found != null) {
      return found;
    }
    var read =
        connections
            .look(connection -> find(connection, queue))
            .orElseThrow(() -> new KeeperException.UnknownQueue(queue))
            .known();
    known.put(queue, read);
    return read;
  }

  private static boolean create(Connection connection, QueueName queue, QueueSettings settings)
      throws SQLException {
    try (var statement = connection.prepareStatement(CREATE)) {
      statement.setString(1, queue.value());
      statement.setBoolean(2, settings.mode() == QueueMode.ORDERED);
      statement.setInt(3, settings.maxDeliveryCount());
      statement.setLong(4, Micros.of(settings.lockDuration()));
      statement.setLong(5, Micros.of(settings.messageTtl()));
      statement.setLong(6, Micros.of(settings.duplicateWindow()));
      statement.setString(7, settings.poisonPolicy().name());
      return statement.executeUpdate() == 1;
    }
  }

  private static void change(Connection connection, QueueName queue, QueueSettings settings)
      throws SQLException {
    try (var statement = connection.prepareStatement(CHANGE)) {
      statement.setInt(1, settings.maxDeliveryCount());
      statement.setLong(2, Micros.of(settings.lockDuration()));
      statement.setLong(3, Micros.of(settings.messageTtl()));
      statement.setLong(4, Micros.of(settings.duplicateWindow()));
      statement.setString(5, settings.poisonPolicy().name());
      statement.setString(6, queue.value());
      statement.executeUpdate();
    }
  }

  private record Row(KnownQueue known, QueueSettings settings) {}

  private static Optional<Row> find(Connection connection, QueueName queue) throws SQLException {
    try (var statement = connection.prepareStatement(FIND)) {
      statement.setString(1, queue.value());
      try (var rows = statement.executeQuery()) {
        if (!rows.next()) {
          return Optional.empty();
        }
        var mode = rows.getBoolean(2) ? QueueMode.ORDERED : QueueMode.UNORDERED;
        return Optional.of(
            new Row(
                new KnownQueue(rows.getInt(1), queue, mode),
                new QueueSettings(
                    mode,
                    rows.getInt(3),
                    Duration.of(rows.getLong(4), ChronoUnit.MICROS),
                    Duration.of(rows.getLong(5), ChronoUnit.MICROS),
                    Duration.of(rows.getLong(6), ChronoUnit.MICROS),
                    PoisonPolicy.valueOf(rows.getString(7)))));
      }
    }
  }
}
