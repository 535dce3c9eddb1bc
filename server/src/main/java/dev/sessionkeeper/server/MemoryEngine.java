package dev.sessionkeeper.server;

import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.server.feature.Engine;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.MemoryAuditLog;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.time.TimeSource;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Keeps everything in memory: for trying things out, and for tests. Nothing survives the process.
 */
final class MemoryEngine implements Engine {
  private final MemoryQueueProvider queues;
  private final AuditLog audit;
  private final ServerSecret secret = ServerSecret.ofThisProcess();

  MemoryEngine(TimeSource time) {
    this.queues = MemoryQueueProvider.create(time);
    this.audit = new MemoryAuditLog(time);
  }

  @Override
  public QueueProvider queues() {
    return queues;
  }

  @Override
  public Optional<DataSource> database() {
    return Optional.empty();
  }

  @Override
  public Optional<Notices> notices() {
    return Optional.empty();
  }

  @Override
  public AuditLog audit() {
    return audit;
  }

  @Override
  public ServerSecret secret() {
    return secret;
  }

  @Override
  public String description() {
    return "everything in memory, gone when the server ends";
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void close() {
    queues.close();
  }
}
