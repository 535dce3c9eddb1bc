package dev.sessionkeeper.processor.traps;

import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionHooks;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;

/**
 * The task of a processor in a trap.
 *
 * @param idle when an idle session is released
 * @param retry the delay after a failure; after two attempts a message is poison
 */
record Trial(
    QueueProvider provider,
    MessageHandler handler,
    SessionHooks hooks,
    int slots,
    int prefetch,
    Duration idle,
    Duration retry) {
  static final int ATTEMPTS = 2;

  static Trial of(QueueProvider provider, MessageHandler handler) {
    return new Trial(
        provider, handler, SessionHooks.NONE, 1, 10, Duration.ofMillis(100), Duration.ofMillis(10));
  }

  Trial withHooks(SessionHooks wished) {
    return new Trial(provider, handler, wished, slots, prefetch, idle, retry);
  }

  Trial withSlots(int count) {
    return new Trial(provider, handler, hooks, count, prefetch, idle, retry);
  }

  Trial withIdle(Duration timeout) {
    return new Trial(provider, handler, hooks, slots, prefetch, timeout, retry);
  }

  Trial withRetry(Duration delay) {
    return new Trial(provider, handler, hooks, slots, prefetch, idle, delay);
  }
}
