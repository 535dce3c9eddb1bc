package dev.sessionkeeper.benchmarks.postgres;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Creates messages and checks their delivery: for each producer and session they must arrive one
 * after the other, without gaps and repeats. Several processes may share one load.
 */
public final class Load {
  private static final int BODY_BYTES = 256;

  final int sessions;
  public final Latencies latencies = new Latencies();
  private final Scoreboard board;
  private final int worker;
  private final int producers;
  private final int[][] sentOf;
  private final Optional<Trace> trace;

  /** Creates the load of one process. */
  public Load(int sessions, int producers) {
    this(sessions, producers, Scoreboard.alone(sessions * producers), 0, Optional.empty());
  }

  /**
   * Creates the part of one process.
   *
   * @param producers of all processes
   * @param trace records every message
   */
  Load(int sessions, int producers, Scoreboard board, int worker, Optional<Trace> trace) {
    this.sessions = sessions;
    this.producers = producers;
    this.board = board;
    this.worker = worker;
    this.sentOf = new int[producers][];
    this.trace = trace;
  }

  /** Returns the next body of a producer for a session. Called by that producer's thread only. */
  public byte[] next(int producer, int session) {
    if (sentOf[producer] == null) {
      sentOf[producer] = new int[sessions];
    }
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
    if (board.exchange(session * producers + producer, number) != number - 1) {
      board.addViolation(worker);
    }
    long sentAt = buffer.getLong();
    long now = System.nanoTime();
    latencies.add(now - sentAt);
    trace.ifPresent(it -> it.add(sentAt, now, session));
    board.addHandled(worker);
  }

  public void addSent(int count) {
    board.addSent(worker, count);
  }

  public long sent() {
    return board.sent();
  }

  public long handled() {
    return board.handled();
  }

  public long violations() {
    return board.violations();
  }

  public long open() {
    return sent() - handled();
  }
}
