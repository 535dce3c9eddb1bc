package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog;
import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Stores the API keys. Every change is audited in its transaction. */
final class KeyTable {
  private static final int MOST = 10_000;
  private static final String COLUMNS =
      "prefix, name, sha256, roles, tenant, queues, created_at, created_by, expires_at, revoked_at";
  private static final String ADD =
      """
      INSERT INTO keeper.api_key (prefix, name, sha256, roles, tenant, queues, created_by, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
      """;
  private static final String ACTIVE =
      "SELECT " + COLUMNS + " FROM keeper.api_key WHERE revoked_at IS NULL LIMIT " + MOST;
  private static final String ALL =
      "SELECT "
          + COLUMNS
          + " FROM keeper.api_key ORDER BY revoked_at IS NOT NULL, name LIMIT "
          + MOST;
  private static final String REVOKE =
      """
      UPDATE keeper.api_key SET revoked_at = clock_timestamp()
       WHERE (prefix = ? OR name = ?) AND revoked_at IS NULL RETURNING
      """
          + " "
          + COLUMNS;

  private final Database database;

  KeyTable(Database database) {
    this.database = database;
  }

  List<StoredKey> active() {
    return list(ACTIVE);
  }

  /** Returns all keys, revoked ones last. */
  List<StoredKey> all() {
    return list(ALL);
  }

  /** Adds a key. Returns false if a key of that name is in use. */
  boolean add(StoredKey key, Actor actor) {
    return database.inTransaction(
        connection -> {
          try (var statement = connection.prepareStatement(ADD)) {
            statement.setString(1, key.prefix());
            statement.setString(2, key.name());
            statement.setString(3, key.sha256());
            statement.setArray(4, texts(connection, key.roles().stream().map(Role::key)));
            statement.setObject(5, key.tenant().orElse(null));
            statement.setArray(
                6,
                key.queues().isPresent() ? texts(connection, key.queues().get().stream()) : null);
            statement.setString(7, key.createdBy());
            statement.setObject(
                8, key.expiresAt().map(at -> at.atOffset(ZoneOffset.UTC)).orElse(null));
            if (statement.executeUpdate() == 0) {
              return false;
            }
          }
          audit(connection, actor, "key.create", key);
          return true;
        });
  }

  /** Revokes the key of this prefix or name; empty if there is none. */
  Optional<StoredKey> revoke(String prefixOrName, Actor actor) {
    return database.inTransaction(
        connection -> {
          Optional<StoredKey> gone = Optional.empty();
          try (var statement = connection.prepareStatement(REVOKE)) {
            statement.setString(1, prefixOrName);
            statement.setString(2, prefixOrName);
            try (var rows = statement.executeQuery()) {
              if (rows.next()) {
                gone = Optional.of(key(rows));
              }
            }
          }
          if (gone.isPresent()) {
            audit(connection, actor, "key.revoke", gone.get());
          }
          return gone;
        });
  }

  private static void audit(Connection connection, Actor actor, String action, StoredKey key)
      throws SQLException {
    var rights = roles(key) + key.expiresAt().map(at -> " until " + at).orElse("");
    AuditLog.write(
        connection,
        new AuditLog.Entry(actor, action, key.name() + " (" + key.prefix() + ")", "", rights));
  }

  private static String roles(StoredKey key) {
    return key.roles().stream().map(Role::key).sorted().collect(Collectors.joining(", "));
  }

  private List<StoredKey> list(String sql) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(sql)) {
            var keys = new ArrayList<StoredKey>();
            while (rows.next()) {
              keys.add(key(rows));
            }
            return keys;
          }
        });
  }

  private static Array texts(Connection connection, Stream<String> texts) throws SQLException {
    return Columns.array(connection, "text", texts.toList());
  }

  private static StoredKey key(ResultSet row) throws SQLException {
    return new StoredKey(
        row.getString(1),
        row.getString(2),
        row.getString(3),
        texts(row, 4).orElseThrow().stream()
            .map(word -> Role.valueOf(word.toUpperCase(Locale.ROOT)))
            .toList(),
        Optional.ofNullable(row.getObject(5, UUID.class)),
        texts(row, 6),
        instant(row, 7).orElseThrow(),
        row.getString(8),
        instant(row, 9),
        instant(row, 10));
  }

  private static Optional<List<String>> texts(ResultSet row, int column) throws SQLException {
    var array = row.getArray(column);
    return array == null ? Optional.empty() : Optional.of(List.of((String[]) array.getArray()));
  }

  private static Optional<Instant> instant(ResultSet row, int column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }
}
