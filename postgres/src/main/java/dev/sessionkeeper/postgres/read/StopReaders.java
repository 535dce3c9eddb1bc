package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.poll.PollRequests;
import dev.sessionkeeper.postgres.queue.QueueContext;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Stops all readers of a queue, so that every session has its row. */
public final class StopReaders {
  private static final long PATIENCE_NANOS = Duration.ofMinutes(2).toNanos();
  private static final long ASK_AGAIN_NANOS = Duration.ofMillis(5).toNanos();

  private final QueueContext queue;
  private final ReadBuckets reader;
  private final AskReader asks;
  private final PollRequests polls;

  public StopReaders(QueueContext queue, ReadBuckets reader, AskReader asks, PollRequests polls) {
    this.queue = queue;
    this.reader = reader;
    this.asks = asks;
    this.polls = polls;
  }

  /** Returns when no process reads the queue. No process begins again for a while. */
  public void stop() {
    long began = queue.time().nanoTime();
    while (queue.time().nanoTime() - began < PATIENCE_NANOS) {
      reader.stop();
      Futures.join(polls.join());
      boolean areReaders = asks.toStop();
      if (!areReaders && !reader.isReading()) {
        return;
      }
      LockSupport.parkNanos(ASK_AGAIN_NANOS);
    }
    throw new KeeperException.Unavailable(
        "Queue " + queue.name() + ", which another process reads alone,");
  }
}
