package dev.sessionkeeper.coalescing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The memory of an idle writer that has written before is less than 100 KB. */
@Tag("slow")
class IdleMemoryTest {
  private static final int WRITERS = 200;

  @Test
  void anIdleWriterTakesLessThanAHundredKilobytes() {
    writer().close(); // Class data loaded once does not belong to a writer.
    var writers = new ArrayList<CoalescingWriter<String, String>>();
    long before = usedBytes();
    for (int i = 0; i < WRITERS; i++) {
      writers.add(writer());
    }
    long each = (usedBytes() - before) / WRITERS;

    assertThat(writers).hasSize(WRITERS);
    assertThat(each).as("bytes of an idle writer").isLessThan(100_000);
    writers.forEach(CoalescingWriter::close);
  }

  private static CoalescingWriter<String, String> writer() {
    var writer = CoalescingWriter.create(MemoryLastValueStore.<String, String>create());
    writer.submit("a", 1, "value").toCompletableFuture().join();
    return writer;
  }

  private static long usedBytes() {
    var memory = ManagementFactory.getMemoryMXBean();
    memory.gc();
    memory.gc();
    return memory.getHeapMemoryUsage().getUsed();
  }
}
