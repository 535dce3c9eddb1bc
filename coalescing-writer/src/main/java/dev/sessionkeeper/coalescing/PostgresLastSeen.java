package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Stores in PostgreSQL when each key was last seen, by the database's clock, so that a node with a
 * wrong clock writes correct times.
 *
 * <p>The version of a stored entry is that time in microseconds since 1970. The version of an entry
 * to write only orders the entries of this process.
 */
public final class PostgresLastSeen implements LastValueStore<String, String>, ListedValues {
  private static final String NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

  private static final String WRITE =
      """
      INSERT INTO keeper.last_value AS stored (space, key, version, value)
      SELECT ?, new.key, %s, new.value
        FROM unnest(?::text[], ?::text[]) AS new (key, value)
       ORDER BY new.key
      ON CONFLICT (space, key) DO UPDATE
         SET version = excluded.version, value = excluded.value, at = clock_timestamp()
       WHERE stored.version < excluded.version
      """
          .formatted(NOW); // last_value_pkey (space, key)

  private static final String BURY =
      "INSERT INTO keeper.last_value_dead (space, key, version, value, cause) VALUES (?, ?, ?, ?, ?)";

  private static final String READ =
      """
      SELECT key, version, value FROM keeper.last_value
       WHERE space = ? AND (key = ? OR ? AND starts_with(key, ?)) ORDER BY key LIMIT ?
      """;

  private final Database database;
  private final String space;

  private PostgresLastSeen(Database database, String space) {
    this.database = database;
    this.space = space;
  }

  /**
   * Opens the store.
   *
   * @param space separates the keys of one use from those of another
   */
  public static PostgresLastSeen create(Database database, String space) {
    Migrations.apply(database.source(), "last_values");
    return new PostgresLastSeen(database, space);
  }

  @Override
  public List<Result> write(List<Entry<String, String>> entries) {
    var sorted = entries.stream().sorted(Comparator.comparing(Entry::key)).toList();
    database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(WRITE)) {
            statement.setString(1, space);
            var columns = new Columns<>(statement, sorted, 2);
            columns.add("text", Entry::key);
            columns.add("text", Entry::value);
            return statement.executeUpdate();
          }
        });
    return entries.stream().map(entry -> Result.WRITTEN).toList();
  }

  @Override
  public void setAside(Entry<String, String> entry, String cause) {
    database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(BURY)) {
            statement.setString(1, space);
            statement.setString(2, entry.key().replace('\0', '\uFFFD'));
            statement.setLong(3, entry.version());
            statement.setString(4, entry.value().replace('\0', '\uFFFD'));
            statement.setString(5, cause.replace('\0', '\uFFFD'));
            return statement.executeUpdate();
          }
        });
  }

  @Override
  public Optional<Entry<String, String>> read(String key) {
    return find(key, false, 1).stream().findFirst();
  }

  @Override
  public List<Entry<String, String>> startingWith(String prefix, int most) {
    return find(prefix, true, most);
  }

  private List<Entry<String, String>> find(String key, boolean asPrefix, int most) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(READ)) {
            statement.setString(1, space);
            statement.setString(2, key);
            statement.setBoolean(3, asPrefix);
            statement.setString(4, key);
            statement.setInt(5, most);
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
}
