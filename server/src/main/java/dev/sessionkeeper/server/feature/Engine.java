package dev.sessionkeeper.server.feature;

import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.AuditedQueues;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Notices;
import java.nio.file.Path;
import java.util.Optional;
import javax.sql.DataSource;

/** The opened and migrated store of the server. The one place that knows the technology. */
public interface Engine extends AutoCloseable {

  /** The queues behind {@code /queues}. */
  QueueProvider queues();

  /** The database behind it, migrated; empty when everything is in memory. */
  Optional<DataSource> database();

  /** The folder of an embedded database; empty when the data is elsewhere. */
  default Optional<Path> dataFolder() {
    return Optional.empty();
  }

  /** How nodes of one database tell each other of news; empty when there is but one. */
  Optional<Notices> notices();

  /** Where operator acts are written down. */
  AuditLog audit();

  /** The secret that all servers of this store share. */
  ServerSecret secret();

  /** Names the scheduled work of the store itself. Asked once, where there is a database. */
  default void schedule(Jobs jobs) {}

  /** The acts of operators on queues, each with its audit entry. */
  default AuditedQueues audited() {
    return AuditedQueues.afterwards(queues(), audit());
  }

  /** One line for the start message: what it is and where the data is. */
  String description();

  /** Why the store cannot be used now; empty when it answers and its schema is up to date. */
  Optional<String> notReady();

  /**
   * Says why a part of the engine cannot be used, although the server should get requests. An
   * example: the cloud of the queues is away, and the store still takes everything in.
   */
  default Optional<String> degraded() {
    return Optional.empty();
  }

  @Override
  void close();
}
