package dev.sessionkeeper.benchmarks.postgres;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The counts of all processes of a turn, in shared memory: what each has sent and handled, and the
 * last handled number of each producer and session. Safe for threads and processes.
 */
final class Scoreboard {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

  /** The distance between two counts, so that each has a cache line of its own. */
  private static final int LINE = 128;

  private static final int SENT = 0;
  private static final int HANDLED = 1;
  private static final int VIOLATIONS = 2;
  private static final int COUNTS = 3;

  private final ByteBuffer memory;
  private final int workers;

  private Scoreboard(ByteBuffer memory, int workers) {
    this.memory = memory;
    this.workers = workers;
  }

  /** Creates counts for one process. */
  static Scoreboard alone(int numbers) {
    return new Scoreboard(ByteBuffer.allocateDirect(bytes(1, numbers)).alignedSlice(8), 1);
  }

  /** Creates counts in a file that all processes of a turn map. */
  static Scoreboard shared(Path file, int workers, int numbers) throws IOException {
    try (var channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new Scoreboard(
          channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes(workers, numbers)), workers);
    }
  }

  private static int bytes(int workers, int numbers) {
    return workers * COUNTS * LINE + numbers * Integer.BYTES + 8;
  }

  void addSent(int worker, long count) {
    add(worker, SENT, count);
  }

  void addHandled(int worker) {
    add(worker, HANDLED, 1);
  }

  void addViolation(int worker) {
    add(worker, VIOLATIONS, 1);
  }

  private void add(int worker, int count, long amount) {
    long unused = (long) LONG.getAndAdd(memory, (worker * COUNTS + count) * LINE, amount);
  }

  /** Replaces a number, and returns the previous one. */
  int exchange(int index, int number) {
    return (int) INT.getAndSet(memory, workers * COUNTS * LINE + index * Integer.BYTES, number);
  }

  long sent() {
    return sum(SENT);
  }

  long handled() {
    return sum(HANDLED);
  }

  long handledBy(int worker) {
    return (long) LONG.getVolatile(memory, (worker * COUNTS + HANDLED) * LINE);
  }

  long violations() {
    return sum(VIOLATIONS);
  }

  private long sum(int count) {
    long sum = 0;
    for (int worker = 0; worker < workers; worker++) {
      sum += (long) LONG.getVolatile(memory, (worker * COUNTS + count) * LINE);
    }
    return sum;
  }
}
