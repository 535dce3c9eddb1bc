package dev.sessionkeeper.server.samples;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the numbers of all queues every two seconds, and keeps half an hour of samples. Each server
 * reads for itself. While the store is away there are no samples.
 *
 * <p>Threads: one reading at a time, on a virtual thread; callers wait for the next sample on this
 * object's monitor.
 */
final class SampleQueues implements AutoCloseable {
  static final Duration EVERY = Duration.ofSeconds(2);
  static final int MOST = 900;

  private static final Logger log = LoggerFactory.getLogger(SampleQueues.class);

  private final ReadNumbers numbers;
  private final TimeSource time;
  private final Deque<Sample> samples = new ArrayDeque<>();
  private boolean closed;

  SampleQueues(ReadNumbers numbers, TimeSource time) {
    this.numbers = numbers;
    this.time = time;
  }

  void start() {
    time.schedule(EVERY, () -> Thread.ofVirtual().name("sample-queues").start(this::lookAndGoOn));
  }

  private void lookAndGoOn() {
    synchronized (this) {
      if (closed) {
        return;
      }
    }
    look();
    start();
  }

  void look() {
    try {
      var sample = new Sample(time.instant(), numbers.read());
      synchronized (this) {
        samples.addLast(sample);
        if (samples.size() > MOST) {
          samples.removeFirst();
        }
        notifyAll();
      }
    } catch (KeeperException e) {
      log.debug("The numbers of the queues could not be read: {}", e.getMessage());
    }
  }

  /** Returns all samples of the last time span, oldest first. */
  synchronized List<Sample> last(Duration span) {
    var from = time.instant().minus(span);
    return samples.stream().filter(sample -> !sample.at().isBefore(from)).toList();
  }

  synchronized Optional<Sample> newest() {
    return Optional.ofNullable(samples.peekLast());
  }

  /** Waits for a sample that is newer than the given one; empty if none comes in time. */
  synchronized Optional<Sample> after(Optional<Sample> seen, Duration patience)
      throws InterruptedException {
    long started = time.nanoTime();
    while (newest().equals(seen) && !closed) {
      var left = patience.minus(time.since(started));
      if (!left.isPositive()) {
        return Optional.empty();
      }
      wait(Math.max(1, left.toMillis()));
    }
    return newest();
  }

  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }
}
