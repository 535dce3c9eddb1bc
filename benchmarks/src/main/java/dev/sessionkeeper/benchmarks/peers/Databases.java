package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.CpuTime;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/**
 * Databases of one server, one for each turn. Each database is dropped before the next turn begins,
 * so that no turn pays for vacuuming or writing another's data.
 */
final class Databases implements FreshDatabases {
  /** The environment variable with the server's process id. */
  static final String PID = "KEEPER_BENCHMARK_SERVER";

  private final EmbeddedPostgres postgres;
  private final List<String> names = new ArrayList<>();
  private int created;

  Databases(EmbeddedPostgres postgres) {
    this.postgres = postgres;
  }

  /** Creates an empty database and returns its name. */
  String create() {
    var name = "peers" + ++created;
    postgres.createDatabase(name);
    names.add(name);
    return name;
  }

  @Override
  public DataSource fresh() {
    return postgres.dataSource(create());
  }

  /** Returns how a client in another process finds the server; it learns its databases later. */
  Map<String, String> environmentOfProcess() {
    var all = new HashMap<>(environment("postgres"));
    all.put(PID, Long.toString(postgres.pid()));
    return all;
  }

  /** Returns how a client in another language finds a database. */
  Map<String, String> environment(String name) {
    var address = postgres.jdbcUrl(name).substring("jdbc:postgresql://".length());
    return Map.of(
        "PGHOST", address.substring(0, address.indexOf(':')),
        "PGPORT", address.substring(address.indexOf(':') + 1, address.indexOf('/')),
        "PGDATABASE", name,
        "PGUSER", postgres.user(),
        "PGPASSWORD", postgres.password());
  }

  @Override
  public double cpuSeconds() {
    return CpuTime.secondsOf(postgres.pid());
  }

  void clear() throws SQLException {
    try (var connection = postgres.adminDataSource().getConnection();
        var statement = connection.createStatement()) {
      for (var name : names) {
        statement.execute("DROP DATABASE " + name + " WITH (FORCE)");
      }
      names.clear();
      statement.execute("CHECKPOINT");
    }
  }
}
