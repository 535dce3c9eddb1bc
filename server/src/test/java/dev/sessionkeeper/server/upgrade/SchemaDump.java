package dev.sessionkeeper.server.upgrade;

import dev.sessionkeeper.server.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;

/**
 * The tables of a release with some rows, as files: {@code schema.sql} contains the scripts that
 * the release applied, in order, and {@code data/} the rows of each table, including the histories
 * of the scripts.
 *
 * <p>Writing and loading need no PostgreSQL program.
 */
final class SchemaDump {
  private static final String HISTORIES =
      """
      SELECT table_name FROM information_schema.tables
       WHERE table_schema = 'keeper' AND table_name LIKE 'schema_history_%' ORDER BY table_name
      """;
  private static final String TABLES =
      """
      SELECT table_name FROM information_schema.tables
       WHERE table_schema = 'keeper' AND table_type = 'BASE TABLE' AND table_name <> 'server_secret' ORDER BY table_name
      """;
  private static final String SEQUENCES =
      """
      SELECT format('SELECT setval(%L, %s, true);', schemaname || '.' || sequencename, last_value)
        FROM pg_sequences WHERE schemaname = 'keeper' AND last_value IS NOT NULL ORDER BY 1
      """;
  // As the migration tool creates it.
  private static final String HISTORY =
      """
      CREATE TABLE keeper.%1$s (
        installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
        type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
        installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
        execution_time int NOT NULL, success boolean NOT NULL);
      CREATE INDEX %1$s_s_idx ON keeper.%1$s (success);
      """;

  private SchemaDump() {}

  static void write(TestDatabase database, Path folder) throws SQLException, IOException {
    Files.createDirectories(folder.resolve("data"));
    try (var connection = database.source().getConnection()) {
      Files.writeString(folder.resolve("schema.sql"), schema(connection));
      for (var table : texts(connection, TABLES)) {
        writeRows(connection, table, folder.resolve("data").resolve(table + ".csv"));
      }
      Files.writeString(
          folder.resolve("sequences.sql"), String.join("\n", texts(connection, SEQUENCES)) + "\n");
    }
  }

  private static String schema(Connection connection) throws SQLException, IOException {
    var sql = new StringBuilder("CREATE SCHEMA keeper;\n");
    // By time, because a script of one module may use the tables of another one.
    var steps = new ArrayList<String>();
    for (var history : texts(connection, HISTORIES)) {
      sql.append(HISTORY.formatted(history));
      steps.add(
          "SELECT '%1$s' AS module, installed_on, installed_rank, script FROM keeper.%2$s WHERE type = 'SQL'"
              .formatted(history.substring("schema_history_".length()), history));
    }
    var order =
        "SELECT module || '/' || script FROM ("
            + String.join(" UNION ALL ", steps)
            + ") s ORDER BY installed_on, module, installed_rank";
    for (var script : texts(connection, order)) {
      sql.append("\n-- ").append(script).append('\n').append(script(script));
    }
    return sql.toString();
  }

  private static String script(String name) throws IOException {
    try (var in = SchemaDump.class.getResourceAsStream("/db/keeper/" + name)) {
      if (in == null) {
        throw new IOException("There is no script " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static void writeRows(Connection connection, String table, Path file)
      throws SQLException, IOException {
    var copy = connection.unwrap(PGConnection.class).getCopyAPI();
    try (var out = Files.newOutputStream(file)) {
      copy.copyOut("COPY keeper." + table + " TO STDOUT (FORMAT csv, HEADER)", out);
    }
    if (Files.readAllLines(file).size() < 2) {
      Files.delete(file);
    }
  }

  static void load(TestDatabase database, Path folder) throws SQLException, IOException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(Files.readString(folder.resolve("schema.sql")));
      // The dump contains the rows that the scripts insert.
      for (var table : texts(connection, TABLES)) {
        statement.execute("DELETE FROM keeper." + table);
      }
      var copy = connection.unwrap(PGConnection.class).getCopyAPI();
      try (var files = Files.list(folder.resolve("data"))) {
        for (var file : files.sorted().toList()) {
          var table = file.getFileName().toString().replace(".csv", "");
          var columns = Files.readAllLines(file).getFirst();
          try (var in = Files.newInputStream(file)) {
            copy.copyIn(
                "COPY keeper." + table + " (" + columns + ") FROM STDIN (FORMAT csv, HEADER)", in);
          }
        }
      }
      statement.execute(Files.readString(folder.resolve("sequences.sql")));
    }
  }

  private static List<String> texts(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      var all = new ArrayList<String>();
      while (rows.next()) {
        all.add(rows.getString(1));
      }
      return all;
    }
  }
}
