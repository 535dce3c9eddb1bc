package dev.sessionkeeper.embedded;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The temporary databases of this process, which are closed when the process ends by itself or by a
 * signal.
 */
final class TemporaryDatabases {
  private static final Set<EmbeddedPostgres> OPEN = ConcurrentHashMap.newKeySet();

  private static final AtomicBoolean HOOKED = new AtomicBoolean();

  private TemporaryDatabases() {}

  static void opened(EmbeddedPostgres postgres) {
    // Not when this class is loaded: a database may be closed while the process is already ending.
    if (!HOOKED.getAndSet(true)) {
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(() -> OPEN.forEach(EmbeddedPostgres::close), "keeper-postgres-end"));
    }
    OPEN.add(postgres);
  }

  static void closed(EmbeddedPostgres postgres) {
    OPEN.remove(postgres);
  }
}
