package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Runs a handler over all sessions of a queue: sessions in parallel, messages of a session in
 * order.
 */
public interface SessionProcessor extends AutoCloseable {

  /** A processor of this queue with this handler. {@link Builder#build} checks what is wished. */
  static Builder builder(QueueProvider provider, QueueName queue, MessageHandler handler) {
    return new ProcessorBuilder(provider, queue, handler);
  }

  /**
   * A processor that hands several messages of one session to a call of its handler.
   *
   * @param maxBatch the most messages of one call; 1 or more
   */
  static Builder batches(
      QueueProvider provider, QueueName queue, int maxBatch, BatchHandler handler) {
    return ProcessorBuilder.ofBatches(provider, queue, new CallBatchHandler(handler, maxBatch));
  }

  /** Where a processor stands. */
  enum State {
    NEW,
    RUNNING,
    /** It takes no session until it is resumed. */
    PAUSED,
    DRAINING,
    CLOSED
  }

  /** Begins to take sessions. */
  SessionProcessor start();

  State state();

  /** Returns the options in force. */
  ProcessorOptions options();

  /** Sessions in hand now. */
  int activeSessions();

  /**
   * Changes how many sessions are held at once, while running. Fewer: sessions in hand are finished
   * first.
   */
  void changeConcurrency(int maxConcurrentSessions);

  /**
   * Takes no new session until {@link #resume()}, and gives those in hand back after their current
   * message. It returns at once; {@link #activeSessions()} tells when nothing is in hand. Pausing
   * twice does nothing.
   *
   * @throws IllegalStateException if the processor is not running
   */
  void pause();

  /**
   * Takes sessions again. Resuming a running processor does nothing.
   *
   * @throws IllegalStateException if the processor is neither paused nor running
   */
  void resume();

  /**
   * Takes no new session, finishes the messages in hand, gives every session back. Returns within
   * the drain timeout; handlers that are still running then are interrupted and reported.
   */
  DrainReport drain();

  /** As {@link #drain()}. */
  @Override
  void close();

  /** Sets options; each has a default. */
  interface Builder {
    /** All options at once, as a start. */
    Builder options(ProcessorOptions options);

    /** How many sessions are handled at once. The default is 8. */
    Builder maxConcurrentSessions(int count);

    /** When a held session without work is given back. The default is 2 minutes. */
    Builder sessionIdleTimeout(Duration timeout);

    /** How long a session is held at most. The default is 30 minutes. */
    Builder sessionMaxDuration(Duration duration);

    /** How many messages one hold may handle. The default is 1,000. */
    Builder maxMessagesPerHold(int count);

    /** How long the lock is renewed for one message. The default is 5 minutes. */
    Builder maxAutoRenew(Duration duration);

    /** How many messages are taken from a session at once. The default is 32. */
    Builder prefetch(int count);

    /** Delays and attempts after failures. The default tries 5 times, from one second, doubling. */
    Builder retry(RetryPolicy policy);

    /** Sets the poison policy. The default is the policy of the queue. */
    Builder poisonPolicy(PoisonPolicy policy);

    /** Decides instead of {@link #retry} and {@link #poisonPolicy} when a handler throws. */
    Builder onFailure(FailurePolicy policy);

    /** Is asked before {@link #onFailure}; may be given several times, the first answer counts. */
    Builder rule(FailureRule rule);

    /** How long {@link SessionProcessor#close()} waits for handlers. The default is 30 seconds. */
    Builder drainTimeout(Duration timeout);

    /** Sets hooks that run when a session opens and closes. The default is none. */
    Builder hooks(SessionHooks hooks);

    /** Sets the owner's name that operators see. The default is a unique name. */
    Builder owner(Owner owner);

    /** Told what happens; may be given several times. */
    Builder listener(Consumer<? super ProcessorEvent> listener);

    /**
     * On which threads sessions are served. The default is virtual threads; take platform threads
     * for handlers that compute for seconds without a pause.
     */
    Builder threads(ThreadFactory threads);

    /** By which clock it waits and measures. The default is the machine's. */
    Builder time(TimeSource time);

    /** Spreads delays. The default is seeded by chance. */
    Builder random(RandomGenerator random);

    /**
     * Makes the processor; it takes nothing before it is started.
     *
     * @throws KeeperException.UnknownQueue if there is no such queue
     * @throws KeeperException.Misconfigured if the provider cannot do what is wished
     */
    SessionProcessor build();
  }
}
