package dev.sessionkeeper.benchmarks.cursors;

import dev.sessionkeeper.cursors.CoalescingWriter;
import dev.sessionkeeper.cursors.PostgresLastValueStore;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import javax.sql.DataSource;

/** The product's writer with its defaults. */
final class CoalescingArm implements WriterArm {
  private static final Runnable NOBODY = () -> {};

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
  public void submit(int stream, long event, Runnable saved) {
    var stage = writer.submit("stream" + stream, event, Long.toString(event));
    if (saved != NOBODY) {
      stage.thenAccept(
          outcome -> {
            if (!outcome.isSaved()) {
              throw new IllegalStateException("Not saved: " + outcome);
            }
            saved.run();
          });
    }
  }

  static Runnable nobody() {
    return NOBODY;
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
