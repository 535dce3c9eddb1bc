package dev.sessionkeeper.server;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.store.Migrations;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;

/** Databases of one PostgreSQL that the tests of this process share. */
public final class TestDatabase {
  static {
    // Applies to all tests of the process: on a busy machine ten seconds are short.
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  /** In the order in which a server applies them. */
  private static final List<String> MODULES =
      List.of(
          "store",
          "health",
          "queues",
          "jobs",
          "registry",
          "gateway",
          "streams",
          "bulk",
          "work",
          "inspect",
          "last_values");

  private static final AtomicInteger COUNT = new AtomicInteger();

  private final DataSource source;
  private final Map<String, String> environment;

  private TestDatabase(EmbeddedPostgres postgres, String name, DataSource source) {
    this.source = source;
    this.environment =
        Map.of(
            "KEEPER_STORE_URL", postgres.jdbcUrl(name),
            "KEEPER_STORE_USER", postgres.user(),
            "KEEPER_STORE_PASSWORD", postgres.password(),
            "KEEPER_STORE_POOL_SIZE", "8");
  }

  private static final class Shared {
    static final EmbeddedPostgres POSTGRES = start();

    private static EmbeddedPostgres start() {
      var postgres = EmbeddedPostgres.temporaryWithoutSync();
      Runtime.getRuntime().addShutdownHook(new Thread(postgres::close));
      return postgres;
    }
  }

  /** The PostgreSQL of all tests of this process that neither stop it nor slow it down. */
  public static EmbeddedPostgres shared() {
    return Shared.POSTGRES;
  }

  /** A database that was migrated once and is copied for each test. */
  private static final class Template {
    static final String NAME = migrated("server_template");

    private static String migrated(String name) {
      var source = Shared.POSTGRES.createDatabase(name);
      MODULES.forEach(module -> Migrations.apply(source, module));
      return name;
    }
  }

  /** Creates a database with all tables. */
  public static TestDatabase create() {
    var name = "server_" + COUNT.incrementAndGet();
    return new TestDatabase(Shared.POSTGRES, name, copy(name));
  }

  /** Copies the template. */
  public static DataSource copy(String name) {
    return Shared.POSTGRES.copyDatabase(Template.NAME, name);
  }

  /** Creates a database without tables. */
  public static TestDatabase empty() {
    var name = "server_" + COUNT.incrementAndGet();
    return new TestDatabase(Shared.POSTGRES, name, Shared.POSTGRES.createDatabase(name));
  }

  public DataSource source() {
    return source;
  }

  /** Returns the environment variables that make a server use this database. */
  public Map<String, String> environment() {
    return environment;
  }
}
