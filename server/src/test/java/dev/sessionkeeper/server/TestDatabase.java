package dev.sessionkeeper.server;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;

/** Databases of one PostgreSQL that the tests of this process share. */
public final class TestDatabase {
  static {
    // For all tests of the process: on a busy machine ten seconds are short.
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  private static final AtomicInteger COUNT = new AtomicInteger();

  private final DataSource source;
  private final Map<String, String> environment;

  private TestDatabase(EmbeddedPostgres postgres, String name) {
    this.source = postgres.createDatabase(name);
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

  /** The PostgreSQL of all tests of this process that neither stop nor slow it. */
  public static EmbeddedPostgres shared() {
    return Shared.POSTGRES;
  }

  /** A database of its own. */
  public static TestDatabase create() {
    return new TestDatabase(Shared.POSTGRES, "server_" + COUNT.incrementAndGet());
  }

  public DataSource source() {
    return source;
  }

  /** What a server has to find in its environment to use it. */
  public Map<String, String> environment() {
    return environment;
  }
}
