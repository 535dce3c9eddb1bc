package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.store.Database;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A durable PostgreSQL of its own that can be stopped, continued and killed by signals. */
final class FrozenPostgres implements AutoCloseable {
  private final EmbeddedPostgres postgres = EmbeddedPostgres.temporary();

  /** Returns a store whose calls give up after one or two seconds, as those of a server do. */
  PostgresLastValueStore store() {
    return PostgresLastValueStore.create(Database.of(impatient()), "outage");
  }

  private DataSource impatient() {
    var source = new PGSimpleDataSource();
    source.setUrl(postgres.jdbcUrl());
    source.setUser(postgres.user());
    source.setPassword(postgres.password());
    source.setConnectTimeout(1);
    source.setLoginTimeout(2);
    source.setSocketTimeout(2);
    return source;
  }

  /** Freezes every process of the database: connections stay open and nothing answers. */
  void stop() throws IOException, InterruptedException {
    signal("-STOP");
  }

  /** Continues the processes, which finish statements that their clients have given up. */
  void goOn() throws IOException, InterruptedException {
    signal("-CONT");
  }

  /** Kills the database; its supervisor starts it again. */
  void kill() {
    ProcessHandle.of(postgres.pid()).ifPresent(ProcessHandle::destroyForcibly);
  }

  private void signal(String signal) throws IOException, InterruptedException {
    var main = ProcessHandle.of(postgres.pid()).orElseThrow();
    var command = new ArrayList<>(List.of("kill", signal));
    Stream.concat(Stream.of(main), main.descendants())
        .forEach(process -> command.add(Long.toString(process.pid())));
    new ProcessBuilder(command).start().waitFor();
  }

  @Override
  public void close() throws IOException, InterruptedException {
    goOn();
    postgres.close();
  }
}
