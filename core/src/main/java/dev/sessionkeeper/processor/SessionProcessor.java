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

  /** Builds a processor that hands the messages of this queue to this handler, one at a time. */
  static Builder builder(QueueProvider provider, QueueName queue, MessageHandler handler) {
    return new ProcessorBuilder(provider, queue, handler);
  }

  /**
   * Builds a processor that hands several messages of one session to each call of its handler.
   *
   * @param maxBatch the most messages of one call; 1 or more
   */
  static Builder batches(
      QueueProvider provider, QueueName queue, int maxBatch, BatchHandler handler) {
    return ProcessorBuilder.ofBatches(provider, queue, new CallBatchHandler(handler, maxBatch));
  }

  /** The state of a processor. */
  enum State {
    /** The processor was not started yet. */
    NEW,
    /** The processor takes sessions. */
    RUNNING,
    /** The processor takes no session until it is resumed. */
    PAUSED,
    /** The processor finishes the current messages and takes no new session. */
    DRAINING,
    /** The processor has ended for good. */
    CLOSED
  }

  /** Starts to take sessions, and returns this processor. */
  SessionProcessor start();

  State state();

  /** Returns the options in force. */
  ProcessorOptions options();

  /** Returns how many sessions the processor holds now. */
  int activeSessions();

  /**
   * Changes how many sessions are held at once, while the processor runs. With a smaller number,
   * the processor finishes the current message before it releases a session.
   */
  void changeConcurrency(int maxConcurrentSessions);

  /**
   * Takes no new session until {@link #resume()}, and gives held sessions back after their current
   * message. Returns at once; {@link #activeSessions()} is 0 when nothing is held any more. Pausing
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
   * Takes no new session, finishes the current messages and releases every session. Returns within
   * the drain timeout: the processor interrupts and reports handlers that still run then.
   */
  DrainReport drain();

  /** As {@link #drain()}. */
  @Override
  void close();

  /** Sets the options of a processor. Each has a default. */
  interface Builder {
    /** Sets all options at once. Later calls change single ones. */
    Builder options(ProcessorOptions options);

    /** Sets how many sessions are handled at once. The default is 8. */
    Builder maxConcurrentSessions(int count);

    /** Sets how long a session without work is held. The default is 2 minutes. */
    Builder sessionIdleTimeout(Duration timeout);

    /** Sets how long a session is held at most. The default is 30 minutes. */
    Builder sessionMaxDuration(Duration duration);

    /** Sets after how many messages other sessions get their turn. The default is 1,000. */
    Builder maxMessagesPerHold(int count);

    /** Sets how long the lease is renewed for one message. The default is 5 minutes. */
    Builder maxAutoRenew(Duration duration);

    /** Sets how many messages of a session are received at once. The default is 32. */
    Builder prefetch(int count);

    /**
     * Sets delays and attempts after failures. By default the queue's {@code maxDeliveryCount} says
     * how many attempts there are, and delays double from one second to 16.
     */
    Builder retry(RetryPolicy policy);

    /** Sets the poison policy. The default is the policy of the queue. */
    Builder poisonPolicy(PoisonPolicy policy);

    /**
     * Sets the policy for a handler that throws. The default follows {@link #retry} and {@link
     * #poisonPolicy}.
     */
    Builder onFailure(FailurePolicy policy);

    /** Adds a rule that is asked before {@link #onFailure}. The first rule that answers decides. */
    Builder rule(FailureRule rule);

    /** Sets how long {@link SessionProcessor#close()} waits for handlers. The default is 30 s. */
    Builder drainTimeout(Duration timeout);

    /** Sets hooks that run when a session opens and closes. The default is none. */
    Builder hooks(SessionHooks hooks);

    /** Sets the owner's name that operators see. The default is a unique name. */
    Builder owner(Owner owner);

    /** Adds a listener of the events of this processor. */
    Builder listener(Consumer<? super ProcessorEvent> listener);

    /**
     * Sets the threads that serve sessions. The default is virtual threads. Use platform threads
     * for handlers that compute for seconds without a pause.
     */
    Builder threads(ThreadFactory threads);

    /**
     * Sets the threads that renew leases and drain the processor, one per task. The default is
     * platform threads, which handlers that occupy all carriers of virtual threads cannot starve.
     */
    Builder backgroundThreads(ThreadFactory threads);

    /** Sets the clock for waits and measurements. The default is the system clock. */
    Builder time(TimeSource time);

    /** Sets the source of jitter. The default has a random seed. */
    Builder random(RandomGenerator random);

    /**
     * Builds the processor. Call {@link SessionProcessor#start()} to let it take sessions.
     *
     * @throws KeeperException.UnknownQueue if there is no such queue
     * @throws KeeperException.Misconfigured if the provider does not support an option
     */
    SessionProcessor build();
  }
}
