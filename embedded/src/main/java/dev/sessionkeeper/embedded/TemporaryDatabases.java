package dev.sessionkeeper.embedded;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The temporary databases of this process, which are closed when it ends by itself or by a signal.
 */
final class TemporaryDatabases {
  private static final Set<EmbeddedPostgres> OPEN = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> OPEN.forEach(EmbeddedPostgres::close), "keeper-postgres-end"));
  }

  private TemporaryDatabases() {}

  static void opened(EmbeddedPostgres postgres) {
    OPEN.add(postgres);
  }

  static void closed(EmbeddedPostgres postgres) {
    OPEN.remove(postgres);
  }
}
