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
 * Databases of one server, one for each turn. What a turn leaves behind goes before the next one
 * begins, so that nobody is vacuumed or written to disk at another's expense.
 */
final class Databases implements FreshDatabases {
  /** Where a process of a peer finds which one the server is. */
  static final String PID = "KEEPER_BENCHMARK_SERVER";

  private final EmbeddedPostgres postgres;
  private final List<String> names = new ArrayList<>();
  private int created;

  Databases(EmbeddedPostgres postgres) {
    this.postgres = postgres;
  }

  /** The name of a new, empty database. */
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

  /** How a client in another process finds the server, and is told its databases later. */
  Map<String, String> environmentOfProcess() {
    var all = new HashMap<>(environment("postgres"));
    all.put(PID, Long.toString(postgres.pid()));
    return all;
  }

  /** How a client of another language finds a database. */
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
