package dev.sessionkeeper.benchmarks.peers;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.benchmarks.postgres.Arm;
import dev.sessionkeeper.benchmarks.postgres.Load;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * db-scheduler: one-time tasks, 16 threads, lock-and-fetch (from half of the threads to four times
 * as many executions at once), bytes unchanged, its table without the index for priorities, which
 * are off. It polls at once when this process schedules a due task, and every 20 ms.
 *
 * <p>It has no order: tasks of one key run concurrently, which shows as violations.
 */
final class DbSchedulerArm implements Arm {
  private static final int THREADS = 16;
  private static final String SCHEMA =
      """
      CREATE TABLE scheduled_tasks (
        task_name text NOT NULL, task_instance text NOT NULL, task_data bytea,
        execution_time timestamptz NOT NULL, picked boolean NOT NULL, picked_by text,
        last_success timestamptz, last_failure timestamptz, consecutive_failures int,
        last_heartbeat timestamptz, version bigint NOT NULL, priority smallint,
        PRIMARY KEY (task_name, task_instance));
      CREATE INDEX ON scheduled_tasks (execution_time);
      CREATE INDEX ON scheduled_tasks (last_heartbeat)
      """;

  private final HikariDataSource connections;
  private final AtomicLong ids = new AtomicLong();
  private final OneTimeTask<byte[]> task;
  private final Scheduler scheduler;
  private volatile @Nullable Load load;

  private DbSchedulerArm(HikariDataSource connections) {
    this.connections = connections;
    this.task =
        Tasks.oneTime("bench", byte[].class).execute((instance, context) -> handle(instance));
    this.scheduler =
        Scheduler.create(connections, task)
            .threads(THREADS)
            .pollUsingLockAndFetch(0.5, 4.0)
            .pollingInterval(Duration.ofMillis(20))
            .enableImmediateExecution()
            .serializer(new AsItIs())
            .shutdownMaxWait(Duration.ofSeconds(2))
            .build();
  }

  static DbSchedulerArm open(DataSource database) throws SQLException {
    try (var connection = database.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(SCHEMA);
    }
    var config = new HikariConfig();
    config.setDataSource(database);
    config.setMaximumPoolSize(THREADS + 8);
    return new DbSchedulerArm(new HikariDataSource(config));
  }

  private void handle(TaskInstance<byte[]> instance) {
    var current = load;
    if (current != null) {
      current.handle(instance.getData());
    }
  }

  @Override
  public Producer producer() {
    return new Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) {
        if (bodies.length == 1) {
          scheduler.schedule(instance(bodies[0]), Instant.now());
          return;
        }
        var instances = new ArrayList<TaskInstance<?>>(bodies.length);
        for (var body : bodies) {
          instances.add(instance(body));
        }
        scheduler.scheduleBatch(instances, Instant.now());
      }

      @Override
      public void close() {}
    };
  }

  private TaskInstance<byte[]> instance(byte[] body) {
    return task.instance(Long.toString(ids.incrementAndGet()), body);
  }

  @Override
  public void consume(Load load) throws SQLException {
    this.load = load;
    try (var connection = connections.getConnection();
        var statement = connection.createStatement()) {
      statement.execute("ANALYZE");
    }
    scheduler.start();
  }

  @Override
  public void stopConsuming() {
    scheduler.stop();
  }

  @Override
  public void close() {
    connections.close();
  }

  /** Leaves bodies unchanged, because they are bytes already. */
  private static final class AsItIs implements Serializer {
    @Override
    public byte[] serialize(@Nullable Object data) {
      return data == null ? new byte[0] : (byte[]) data;
    }

    @Override
    public <T> T deserialize(Class<T> type, byte[] data) {
      return type.cast(data);
    }
  }
}
