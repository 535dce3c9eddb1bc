package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows the dead letters of a queue to a handler, oldest first, one at a time.
 *
 * <p>The processor polls on one virtual thread. Processors of two processes may both show a dead
 * letter; replay and discard take effect once.
 */
public final class DeadLetterProcessor implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DeadLetterProcessor.class);
  private static final int PAGE = 100;
  private static final int MOST_KEPT = 10_000;

  private final DeadLetterQueues letters;
  private final QueueName queue;
  private final DeadLetterHandler handler;
  private final Duration every;
  private final TimeSource time;
  private final ReentrantLock looking = new ReentrantLock();
  private final Set<Kept> kept = new LinkedHashSet<>();
  private volatile boolean closed;
  private volatile @Nullable Thread looker;
  private TimeSource.@Nullable Timer timer;

  /**
   * A dead letter that the handler decided to keep, until it was replayed and became a dead letter
   * again.
   */
  private record Kept(String id, int replays) {}

  private DeadLetterProcessor(
      DeadLetterQueues letters,
      QueueName queue,
      DeadLetterHandler handler,
      Duration every,
      TimeSource time) {
    this.letters = letters;
    this.queue = queue;
    this.handler = handler;
    this.every = every;
    this.time = time;
  }

  /**
   * Starts to show dead letters of the queue, at once and then at this interval.
   *
   * @throws KeeperException.NotSupported if the provider cannot show dead letters
   */
  public static DeadLetterProcessor start(
      QueueProvider provider, QueueName queue, DeadLetterHandler handler, Duration every) {
    return start(provider, queue, handler, every, TimeSource.system());
  }

  /** As {@link #start(QueueProvider, QueueName, DeadLetterHandler, Duration)}, with a clock. */
  public static DeadLetterProcessor start(
      QueueProvider provider,
      QueueName queue,
      DeadLetterHandler handler,
      Duration every,
      TimeSource time) {
    if (every.isNegative() || every.isZero()) {
      throw new IllegalArgumentException("every must be longer than zero, was " + every);
    }
    if (!(provider instanceof DeadLetterQueues letters)) {
      throw new KeeperException.NotSupported(
          provider.capabilities().provider(), "show dead letters");
    }
    var processor = new DeadLetterProcessor(letters, queue, handler, every, time);
    processor.look();
    return processor;
  }

  private synchronized void look() {
    if (!closed) {
      looker = Thread.ofVirtual().name("keeper-dead-letters").start(this::lookAndGoOn);
    }
  }

  private void lookAndGoOn() {
    looking.lock();
    try {
      showAll();
    } catch (RuntimeException e) {
      log.warn("Could not read the dead letters of {}; trying again in {}", queue, every, e);
    } finally {
      looking.unlock();
    }
    scheduleNext();
  }

  private synchronized void scheduleNext() {
    if (!closed) {
      timer = time.schedule(every, this::look);
    }
  }

  private void showAll() {
    var next = Optional.<String>empty();
    do {
      var page = letters.deadLetters(queue, Optional.empty(), new Page.Request(PAGE, next));
      for (var letter : page.items()) {
        if (closed) {
          return;
        }
        show(letter);
      }
      next = page.next();
    } while (next.isPresent());
  }

  private void show(DeadLetter letter) {
    var key = new Kept(letter.id(), letter.replays());
    if (kept.contains(key)) {
      return;
    }
    try {
      switch (handler.handle(letter)) {
        case REPLAY ->
            letters.replay(
                queue, new DeadLetterQueues.Selection.OfMessages(List.of(letter.message().id())));
        case DISCARD -> letters.discard(queue, letter.id());
        case KEEP -> keep(key);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      log.warn("The handler failed on dead letter {} of {}; it stays", letter.id(), queue, e);
    }
  }

  private void keep(Kept key) {
    kept.add(key);
    if (kept.size() > MOST_KEPT) {
      kept.remove(kept.iterator().next());
    }
  }

  /** Shows no more dead letters, and waits for the handler. */
  @Override
  public void close() {
    Thread running;
    synchronized (this) {
      closed = true;
      if (timer != null) {
        timer.cancel();
      }
      running = looker;
    }
    if (running == null || running.equals(Thread.currentThread())) {
      return;
    }
    try {
      running.join();
    } catch (InterruptedException e) {
      running.interrupt();
      Thread.currentThread().interrupt();
    }
  }
}
