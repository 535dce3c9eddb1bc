package dev.sessionkeeper.benchmarks.cursors;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * A bounded queue and workers that write up to 200 events per transaction; nothing is coalesced.
 */
final class BatchingArm implements WriterArm {
  private static final int BATCH = 200;

  private final BlockingQueue<Event> queue = new ArrayBlockingQueue<>(10_000);
  private final LongAdder rows = new LongAdder();
  private final List<Thread> workers = new ArrayList<>();
  private final HikariDataSource source;
  private volatile boolean closed;

  private record Event(int stream, long event, Runnable saved) {}

  BatchingArm(HikariDataSource source, int threads) {
    this.source = source;
    for (int i = 0; i < threads; i++) {
      workers.add(Thread.ofPlatform().start(this::work));
    }
  }

  @Override
  public String name() {
    return "batching queue";
  }

  @Override
  public void submit(int stream, long event, Runnable saved) {
    try {
      queue.put(new Event(stream, event, saved));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void work() {
    var batch = new ArrayList<Event>(BATCH);
    try {
      while (!closed || !queue.isEmpty()) {
        var first = queue.poll(5, TimeUnit.MILLISECONDS);
        if (first != null) {
          batch.add(first);
          queue.drainTo(batch, BATCH - 1);
          // Sorted, because two workers could otherwise deadlock on rows.
          batch.sort(Comparator.comparingInt(Event::stream));
          write(batch);
          batch.forEach(event -> event.saved().run());
          batch.clear();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(List<Event> batch) {
    try (var connection = source.getConnection()) {
      connection.setAutoCommit(false);
      try (var statement = connection.prepareStatement(NaiveArm.UPSERT)) {
        for (var event : batch) {
          statement.setString(1, "batching");
          statement.setString(2, "stream" + event.stream());
          statement.setLong(3, event.event());
          statement.setString(4, Long.toString(event.event()));
          statement.addBatch();
        }
        statement.executeBatch();
      }
      connection.commit();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    rows.add(batch.size());
  }

  @Override
  public long rows() {
    return rows.sum();
  }

  @Override
  public void close() {
    closed = true;
    for (var worker : workers) {
      try {
        worker.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
