package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.store.SqlErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Stores last values in PostgreSQL: one statement per batch, which is a transaction by itself.
 *
 * <p>Rows are locked in the order of their keys, so batches never deadlock. The statement compares
 * versions, so a repeated or late write does no harm.
 */
public final class PostgresLastValueStore implements LastValueStore<String, String>, ListedValues {
  private static final String UPSERT =
      """
      INSERT INTO keeper.last_value AS stored (space, key, version, value)
      SELECT ?, new.key, new.version, new.value
        FROM unnest(?::text[], ?::bigint[], ?::text[]) AS new(key, version, value)
       ORDER BY new.key
      ON CONFLICT (space, key) DO UPDATE
         SET version = excluded.version, value = excluded.value, at = clock_timestamp()
       WHERE stored.version < excluded.version
      RETURNING key
      """; // last_value_pkey (space, key)

  private static final String UPDATE =
      """
      WITH new AS MATERIALIZED (
        SELECT ?::text AS space, *
          FROM unnest(?::text[], ?::bigint[], ?::text[]) AS new(key, version, value)),
      held AS MATERIALIZED (
        SELECT stored.space, stored.key
          FROM keeper.last_value stored JOIN new USING (space, key)
         ORDER BY stored.key FOR UPDATE OF stored),
      changed AS (
        UPDATE keeper.last_value stored
           SET version = new.version, value = new.value, at = clock_timestamp()
          FROM held JOIN new USING (space, key)
         WHERE stored.space = held.space AND stored.key = held.key AND stored.version < new.version
        RETURNING stored.key)
      SELECT held.key, changed.key IS NOT NULL FROM held LEFT JOIN changed USING (key)
      """; // last_value_pkey (space, key)

  private static final String BURY =
      "INSERT INTO keeper.last_value_dead (space, key, version, value, cause) VALUES (?, ?, ?, ?,"
          + " ?)";

  private static final String READ =
      "SELECT version, value FROM keeper.last_value WHERE space = ? AND key = ?";

  private static final String LIST =
      """
      SELECT key, version, value FROM keeper.last_value
       WHERE space = ? AND starts_with(key, ?) ORDER BY key LIMIT ?
      """; // last_value_pkey (space, key)

  private static final String PUT =
      """
      INSERT INTO keeper.last_value (space, key, version, value) VALUES (?, ?, ?, ?)
      ON CONFLICT (space, key) DO NOTHING
      """;

  private final Database database;
  private final String space;
  private final boolean createsKeys;

  private PostgresLastValueStore(Database database, String space, boolean createsKeys) {
    this.database = database;
    this.space = space;
    this.createsKeys = createsKeys;
  }

  /**
   * Returns a store that accepts any key.
   *
   * @param space separates the keys of one use from those of another
   */
  public static PostgresLastValueStore create(Database database, String space) {
    Migrations.apply(database.source(), "last_values");
    return new PostgresLastValueStore(database, space, true);
  }

  /** Returns a store that accepts only keys added by {@link #register}. */
  public static PostgresLastValueStore ofKnownKeys(Database database, String space) {
    Migrations.apply(database.source(), "last_values");
    return new PostgresLastValueStore(database, space, false);
  }

  /** Adds a key with a first value; an existing key keeps its value. */
  public void register(String key, long version, String value) {
    run(
        connection -> {
          try (var statement = connection.prepareStatement(PUT)) {
            statement.setString(1, space);
            statement.setString(2, key);
            statement.setLong(3, version);
            statement.setString(4, value);
            return statement.executeUpdate();
          }
        });
  }

  @Override
  public List<Result> write(List<Entry<String, String>> entries) {
    var sorted = entries.stream().sorted(Comparator.comparing(Entry::key)).toList();
    var results =
        run(connection -> createsKeys ? upsert(connection, sorted) : update(connection, sorted));
    var missing = createsKeys ? Result.SUPERSEDED : Result.NOT_FOUND;
    return entries.stream().map(entry -> results.getOrDefault(entry.key(), missing)).toList();
  }

  private Map<String, Result> upsert(Connection connection, List<Entry<String, String>> sorted)
      throws SQLException {
    try (var statement = connection.prepareStatement(UPSERT)) {
      bind(statement, sorted);
      var results = new HashMap<String, Result>();
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          results.put(rows.getString(1), Result.WRITTEN);
        }
      }
      return results;
    }
  }

  private Map<String, Result> update(Connection connection, List<Entry<String, String>> sorted)
      throws SQLException {
    try (var statement = connection.prepareStatement(UPDATE)) {
      bind(statement, sorted);
      var results = new HashMap<String, Result>();
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          results.put(rows.getString(1), rows.getBoolean(2) ? Result.WRITTEN : Result.SUPERSEDED);
        }
      }
      return results;
    }
  }

  private void bind(PreparedStatement statement, List<Entry<String, String>> entries)
      throws SQLException {
    new Columns<>(statement, entries)
        .addText(space)
        .add("text", Entry::key)
        .addLongs(Entry::version)
        .add("text", Entry::value);
  }

  @Override
  public void setAside(Entry<String, String> entry, String cause) {
    run(
        connection -> {
          try (var statement = connection.prepareStatement(BURY)) {
            statement.setString(1, space);
            statement.setString(2, printable(entry.key()));
            statement.setLong(3, entry.version());
            statement.setString(4, printable(entry.value()));
            statement.setString(5, printable(cause));
            return statement.executeUpdate();
          }
        });
  }

  /** PostgreSQL cannot store NUL in texts, which may be why the entry was refused. */
  private static String printable(String text) {
    return text.replace('\0', '\uFFFD');
  }

  @Override
  public Optional<Entry<String, String>> read(String key) {
    return run(
        connection -> {
          try (var statement = connection.prepareStatement(READ)) {
            statement.setString(1, space);
            statement.setString(2, key);
            try (var rows = statement.executeQuery()) {
              return rows.next()
                  ? Optional.of(new Entry<>(key, rows.getLong(1), rows.getString(2)))
                  : Optional.empty();
            }
          }
        });
  }

  @Override
  public List<Entry<String, String>> startingWith(String prefix, int most) {
    return run(
        connection -> {
          try (var statement = connection.prepareStatement(LIST)) {
            statement.setString(1, space);
            statement.setString(2, prefix);
            statement.setInt(3, most);
            var found = new ArrayList<Entry<String, String>>();
            try (var rows = statement.executeQuery()) {
              while (rows.next()) {
                found.add(new Entry<>(rows.getString(1), rows.getLong(2), rows.getString(3)));
              }
            }
            return found;
          }
        });
  }

  private <T> T run(Database.Work<T> work) {
    try (var connection = database.source().getConnection()) {
      return work.run(connection);
    } catch (SQLException e) {
      throw isSetup(e)
          ? new KeeperException.Unavailable("The database", e)
          : SqlErrors.translate(e);
    }
  }

  /**
   * A missing table or right is not the fault of an entry: wait for an operator instead of setting
   * all entries aside.
   */
  private static boolean isSetup(SQLException e) {
    var state = e.getSQLState();
    return state != null
        && (state.startsWith("42") || state.startsWith("28") || state.startsWith("3"));
  }
}
