package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** The environment of measurements: one server, databases for turns, and durations. */
final class Bench {
  private static final PrintStream OUT = System.out;

  private final EmbeddedPostgres postgres;
  private final Times times;
  private final Path folder;
  private int databases;
  private int boards;

  Bench(EmbeddedPostgres postgres, Times times) throws IOException {
    this.postgres = postgres;
    this.times = times;
    this.folder = Files.createTempDirectory("keeper-benchmark-");
  }

  /**
   * The durations of a measurement.
   *
   * @param repetitions turns of each contestant that count
   * @param warmUp of the first turn, which does not count, because code is being compiled
   * @param settle from the beginning of a turn until measuring starts
   * @param window the measured part of a turn
   * @param isQuick whether the run only checks that everything works
   */
  record Times(
      int repetitions, Duration warmUp, Duration settle, Duration window, boolean isQuick) {
    static Times quick() {
      return new Times(
          1, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(2), true);
    }

    static Times of(int repetitions, Duration warmUp, Duration window) {
      return new Times(repetitions, warmUp, Duration.ofSeconds(6), window, false);
    }
  }

  Times times() {
    return times;
  }

  Path folder() {
    return folder;
  }

  DatabaseAddress address() {
    return DatabaseAddress.of(postgres);
  }

  /**
   * Returns the name of a new database. The previous database is dropped first, so that its
   * clean-up does not burden the next turn.
   */
  String freshName() {
    int last = databases++;
    try (var connection = postgres.adminDataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("DROP DATABASE IF EXISTS bench" + last + " WITH (FORCE)");
      statement.execute("CHECKPOINT");
    } catch (SQLException e) {
      throw new IllegalStateException("Cannot drop the database of the last turn", e);
    }
    postgres.createDatabase("bench" + databases);
    return "bench" + databases;
  }

  DataSource fresh() {
    return source(freshName());
  }

  DataSource source(String database) {
    return postgres.dataSource(database);
  }

  /** Returns a file for the scoreboard of a turn. */
  Path board() {
    return folder.resolve("board" + ++boards);
  }

  double databaseSeconds() {
    return CpuTime.secondsOf(postgres.pid());
  }

  static void print(String line) {
    OUT.println(line);
  }
}
