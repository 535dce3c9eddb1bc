package dev.sessionkeeper.server;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks regularly whether the queues of a cloud answer, so that health checks need not wait for
 * it.
 *
 * <p>While the queues do not answer, the server still starts and stores webhooks; their messages
 * wait in the outbox.
 */
final class WatchQueues implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(WatchQueues.class);
  private static final Duration EVERY = Duration.ofSeconds(10);

  /** The queue asked for; it need not exist, because "unknown queue" is an answer too. */
  private static final QueueName ANY = QueueName.of("keeper-probe");

  private final QueueProvider queues;
  private final TimeSource time;
  private final AtomicBoolean isAsking = new AtomicBoolean();
  private volatile Optional<String> trouble = Optional.empty();
  private volatile boolean closed;

  WatchQueues(QueueProvider queues, TimeSource time) {
    this.queues = queues;
    this.time = time;
    askSoon();
    askRegularly();
  }

  /** Returns why the queues cannot be used now; empty if the last check succeeded. */
  Optional<String> trouble() {
    return trouble;
  }

  private void askRegularly() {
    time.schedule(
        EVERY,
        () -> {
          if (!closed) {
            askSoon();
            askRegularly();
          }
        });
  }

  private void askSoon() {
    if (isAsking.compareAndSet(false, true)) {
      Thread.ofVirtual().name("watch-queues").start(this::ask);
    }
  }

  private void ask() {
    try {
      var unused = queues.settings(ANY);
      tell(Optional.empty());
    } catch (KeeperException.Closed e) {
      log.debug("The queues are closed");
    } catch (RuntimeException e) {
      // An SDK may throw any exception here; its queues cannot be used then.
      tell(Optional.of(why(e)));
    } finally {
      isAsking.set(false);
    }
  }

  private void tell(Optional<String> now) {
    if (now.isPresent() && trouble.isEmpty()) {
      log.warn(
          "The queues in {} cannot be used: {}. Webhooks are accepted and wait in the store",
          queues.capabilities().provider(),
          now.get());
    }
    if (now.isEmpty() && trouble.isPresent()) {
      log.info("The queues in {} answer again", queues.capabilities().provider());
    }
    trouble = now;
  }

  private static String why(RuntimeException failure) {
    var said =
        String.valueOf(failure.getMessage())
            .replaceFirst("^\\[SK-\\d+] ", "")
            .replace("; try again", "");
    Optional<String> cause = Optional.empty();
    for (var at = failure.getCause(); at != null; at = at.getCause()) {
      cause = Optional.ofNullable(at.getMessage());
    }
    return cause.map(words -> said + ": " + words).orElse(said);
  }

  @Override
  public void close() {
    closed = true;
  }
}
