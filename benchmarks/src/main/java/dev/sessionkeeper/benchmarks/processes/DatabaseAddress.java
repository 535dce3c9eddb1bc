package dev.sessionkeeper.benchmarks.processes;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.net.URI;
import java.util.Map;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The address of a database, passed in the environment, which other users cannot read. */
public record DatabaseAddress(String url, String user, String password) {
  private static final String URL = "KEEPER_RUN_URL";
  private static final String USER = "KEEPER_RUN_USER";
  private static final String PASSWORD = "KEEPER_RUN_PASSWORD";

  public static DatabaseAddress of(EmbeddedPostgres postgres) {
    return new DatabaseAddress(postgres.jdbcUrl(), postgres.user(), postgres.password());
  }

  /** Returns the address in this process's environment. */
  public static DatabaseAddress ofEnvironment() {
    return new DatabaseAddress(
        ChildProcess.fromParent(URL),
        ChildProcess.fromParent(USER),
        ChildProcess.fromParent(PASSWORD));
  }

  public Map<String, String> asEnvironment() {
    return Map.of(URL, url, USER, user, PASSWORD, password);
  }

  /** Returns another database of the same server. */
  public DatabaseAddress withDatabase(String name) {
    int slash = url.lastIndexOf('/');
    int parameters = url.indexOf('?', slash);
    return new DatabaseAddress(
        url.substring(0, slash + 1) + name + url.substring(parameters), user, password);
  }

  /** Returns the port of a server that listens on loopback. */
  public int port() {
    return URI.create(url.substring("jdbc:".length())).getPort();
  }

  /** Returns the same database through another port of loopback. */
  public DatabaseAddress through(int otherPort) {
    return new DatabaseAddress(
        url.replace(":" + port() + "/", ":" + otherPort + "/"), user, password);
  }

  /** Returns connections without a pool. */
  public DataSource source() {
    var source = new PGSimpleDataSource();
    source.setUrl(url);
    source.setUser(user);
    source.setPassword(password);
    return source;
  }
}
