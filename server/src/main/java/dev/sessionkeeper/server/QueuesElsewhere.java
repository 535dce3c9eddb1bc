package dev.sessionkeeper.server;

import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Notices;
import java.util.Optional;
import javax.sql.DataSource;

/** An engine whose queues are carried by another technology than its store. */
record QueuesElsewhere(Engine store, QueueProvider queues) implements Engine {

  @Override
  public Optional<DataSource> database() {
    return store.database();
  }

  @Override
  public Optional<Notices> notices() {
    return store.notices();
  }

  @Override
  public AuditLog audit() {
    return store.audit();
  }

  @Override
  public ServerSecret secret() {
    return store.secret();
  }

  @Override
  public void schedule(Jobs jobs) {
    store.schedule(jobs);
  }

  @Override
  public String description() {
    return store.description() + "; queues in " + queues.capabilities().provider();
  }

  @Override
  public Optional<String> notReady() {
    return store.notReady();
  }

  @Override
  public void close() {
    try (store) {
      queues.close();
    }
  }
}
