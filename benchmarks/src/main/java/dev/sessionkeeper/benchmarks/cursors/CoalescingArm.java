package dev.sessionkeeper.benchmarks.cursors;

import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.PostgresLastValueStore;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import javax.sql.DataSource;

/** The product's writer with its defaults. */
final class CoalescingArm implements WriterArm {
  private final CoalescingWriter<String, String> writer;

  CoalescingArm(DataSource source) {
    writer =
        CoalescingWriter.create(PostgresLastValueStore.create(Database.of(source), "coalescing"));
  }

  @Override
  public String name() {
    return "coalescing writer";
  }

  @Override
  public void submit(int stream, long event) {
    writer.submit("stream" + stream, event, Long.toString(event));
  }

  @Override
  public void submit(int stream, long event, Runnable saved) {
    writer
        .submit("stream" + stream, event, Long.toString(event))
        .thenAccept(
            outcome -> {
              if (!outcome.isSaved()) {
                throw new IllegalStateException("Not saved: " + outcome);
              }
              saved.run();
            });
  }

  @Override
  public long rows() {
    return writer.metrics().written();
  }

  @Override
  public void close() {
    if (!writer.close(Duration.ofSeconds(30)).isComplete()) {
      throw new IllegalStateException("Values were left");
    }
  }
}
