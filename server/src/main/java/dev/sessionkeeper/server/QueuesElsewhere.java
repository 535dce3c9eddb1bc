package dev.sessionkeeper.server;

import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.feature.Engine;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.time.TimeSource;
import java.nio.file.Path;
import java.util.Optional;
import javax.sql.DataSource;

/** An engine whose queues and store use different technologies. */
record QueuesElsewhere(Engine store, QueueProvider queues, Optional<WatchQueues> watch)
    implements Engine {

  /** Returns an engine whose queues are reachable whenever its store is. */
  QueuesElsewhere(Engine store, QueueProvider queues) {
    this(store, queues, Optional.empty());
  }

  /** Returns an engine with queues in a cloud, which may be unreachable while the store answers. */
  static QueuesElsewhere inCloud(Engine store, QueueProvider queues, TimeSource time) {
    return new QueuesElsewhere(store, queues, Optional.of(new WatchQueues(queues, time)));
  }

  @Override
  public Optional<DataSource> database() {
    return store.database();
  }

  @Override
  public Optional<Path> dataFolder() {
    return store.dataFolder();
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
  public Optional<String> degraded() {
    return watch.flatMap(WatchQueues::trouble).or(store::degraded);
  }

  @Override
  public void close() {
    watch.ifPresent(WatchQueues::close);
    try (store) {
      queues.close();
    }
  }
}
