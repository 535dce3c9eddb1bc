package dev.sessionkeeper.benchmarks.cursors;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.concurrent.atomic.LongAdder;

/** One statement and one commit per event, on the thread of the producer. */
final class NaiveArm implements WriterArm {
  static final String UPSERT =
      """
      INSERT INTO keeper.last_value AS stored (space, key, version, value) VALUES (?, ?, ?, ?)
      ON CONFLICT (space, key) DO UPDATE
         SET version = excluded.version, value = excluded.value, at = clock_timestamp()
       WHERE stored.version < excluded.version
      """;

  private final HikariDataSource source;
  private final LongAdder rows = new LongAdder();

  NaiveArm(HikariDataSource source) {
    this.source = source;
  }

  @Override
  public String name() {
    return "write per event";
  }

  @Override
  public void submit(int stream, long event, Runnable saved) {
    try (var connection = source.getConnection();
        var statement = connection.prepareStatement(UPSERT)) {
      statement.setString(1, "naive");
      statement.setString(2, "stream" + stream);
      statement.setLong(3, event);
      statement.setString(4, Long.toString(event));
      statement.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    rows.increment();
    saved.run();
  }

  @Override
  public long rows() {
    return rows.sum();
  }

  @Override
  public void close() {}
}
