package dev.sessionkeeper.benchmarks.postgres;

import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Every message that a process handles, in a mapped file that outlives the process. Thread-safe;
 * records beyond its size are left out.
 */
final class Trace {
  private static final int MOST = 1_000_000;
  private static final int WORDS = 3;

  private final LongBuffer words;
  private final AtomicInteger next = new AtomicInteger();

  private Trace(LongBuffer words) {
    this.words = words;
  }

  static Trace of(Path file) throws IOException {
    try (var channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long bytes = (long) MOST * WORDS * Long.BYTES;
      return new Trace(channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes).asLongBuffer());
    }
  }

  /** A handled message. */
  record Handled(long sentAt, long handledAt, int session) {
    long waitedNanos() {
      return handledAt - sentAt;
    }
  }

  void add(long sentAt, long handledAt, int session) {
    int at = next.getAndIncrement();
    if (at < MOST) {
      words.put(at * WORDS + 2, session);
      words.put(at * WORDS + 1, handledAt);
      words.put(at * WORDS, sentAt);
    }
  }

  /** Reads the file of another process. */
  List<Handled> read() {
    var all = new ArrayList<Handled>();
    for (int i = 0; i < MOST && words.get(i * WORDS) != 0; i++) {
      all.add(
          new Handled(
              words.get(i * WORDS), words.get(i * WORDS + 1), (int) words.get(i * WORDS + 2)));
    }
    return all;
  }
}
