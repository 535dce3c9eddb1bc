package dev.sessionkeeper.benchmarks.postgres;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Makes messages and checks what becomes of them: for each producer and session they must come one
 * after the other, none missing, none twice.
 */
public final class Load {
  private static final int BODY_BYTES = 256;

  final int sessions;
  public final LongAdder sent = new LongAdder();
  public final AtomicLong handled = new AtomicLong();
  public final LongAdder violations = new LongAdder();
  public final Latencies latencies = new Latencies();
  private final int producers;
  private final int[][] sentOf;
  private final AtomicIntegerArray handledOf;

  public Load(int sessions, int producers) {
    this.sessions = sessions;
    this.producers = producers;
    this.sentOf = new int[producers][sessions];
    this.handledOf = new AtomicIntegerArray(sessions * producers);
  }

  /** The next body of a producer for a session. Called by that producer's thread only. */
  public byte[] next(int producer, int session) {
    return ByteBuffer.allocate(BODY_BYTES)
        .putInt(producer)
        .putInt(session)
        .putInt(++sentOf[producer][session])
        .putLong(System.nanoTime())
        .array();
  }

  public void handle(byte[] body) {
    var buffer = ByteBuffer.wrap(body);
    int producer = buffer.getInt();
    int session = buffer.getInt();
    int number = buffer.getInt();
    if (handledOf.getAndSet(session * producers + producer, number) != number - 1) {
      violations.increment();
    }
    latencies.add(System.nanoTime() - buffer.getLong());
    handled.incrementAndGet();
  }

  public long open() {
    return sent.sum() - handled.get();
  }
}
