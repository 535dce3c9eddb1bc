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

/** The opened and migrated store of the server. Only its implementations know the technology. */
public interface Engine extends AutoCloseable {

  /** The queues behind {@code /queues}. */
  QueueProvider queues();

  /** Returns the migrated database; empty if everything is in memory. */
  Optional<DataSource> database();

  /** Returns the folder of an embedded database; empty if the data is elsewhere. */
  default Optional<Path> dataFolder() {
    return Optional.empty();
  }

  /**
   * Returns the channel on which nodes of one database notify each other; empty if there is a
   * single node.
   */
  Optional<Notices> notices();

  /** Returns the log of operators' acts. */
  AuditLog audit();

  /** Returns the secret that all servers of this store share. */
  ServerSecret secret();

  /** Registers the scheduled work of the store. Called once, if there is a database. */
  default void schedule(Jobs jobs) {}

  /** Returns the acts of operators on queues, each with its audit entry. */
  default AuditedQueues audited() {
    return AuditedQueues.afterwards(queues(), audit());
  }

  /** Returns one line for the start message: the technology and where the data is. */
  String description();

  /** Returns why the store cannot be used now; empty if it answers and its schema is up to date. */
  Optional<String> notReady();

  /**
   * Returns why a part of the engine cannot be used although the server should get requests.
   * Example: the cloud of the queues is away, but the store accepts webhooks.
   */
  default Optional<String> degraded() {
    return Optional.empty();
  }

  @Override
  void close();
}
