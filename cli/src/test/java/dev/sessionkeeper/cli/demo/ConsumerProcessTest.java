package dev.sessionkeeper.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reports of a consumer that was killed count, however late they are read. */
class ConsumerProcessTest {
  private static final int REPORTS = 200;

  @TempDir Path folder;

  @Test
  void reportsThatWereNotYetReadSurviveTheKill() throws Exception {
    var script = reporter();
    var firstReport = new CountDownLatch(1);
    var killed = new CountDownLatch(1);
    var seen = new ArrayList<Handled>();
    var consumer =
        ConsumerProcess.start(
            new ProcessBuilder("sh", script.toString()),
            handled -> {
              firstReport.countDown();
              await(killed);
              seen.add(handled);
            });
    await(firstReport);
    await(folder.resolve("all-written"));
    consumer.kill();
    killed.countDown();
    consumer.awaitLastReport();
    assertThat(seen).extracting(Handled::index).hasSize(REPORTS).isSorted();
  }

  /**
   * Returns a program that writes more than the reader buffers and less than the pipe holds, says
   * so, and waits.
   */
  private Path reporter() throws IOException {
    var line = new Handled("x".repeat(200), "session", 7, 1, Handled.Step.COMPLETED).toLine();
    var lines = new ArrayList<String>();
    for (int i = 0; i < REPORTS; i++) {
      lines.add(line.replace("\t7\t", "\t" + i + "\t"));
    }
    var reports = Files.write(folder.resolve("reports"), lines);
    return Files.write(
        folder.resolve("reporter.sh"),
        List.of("cat " + reports, "touch " + folder.resolve("all-written"), "exec sleep 600"));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void await(Path file) {
    while (!Files.exists(file)) {
      Thread.onSpinWait();
    }
  }
}
