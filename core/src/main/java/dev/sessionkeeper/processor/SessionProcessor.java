package dev.sessionkeeper.processor;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Runs a handler over all sessions of a queue: sessions in parallel, messages of a session in
 * order.
 */
public interface SessionProcessor extends AutoCloseable {

  /** Where a processor stands. */
  enum State {
    NEW,
    RUNNING,
    DRAINING,
    CLOSED
  }

  /** Begins to take sessions. */
  SessionProcessor start();

  State state();

  /** What is set now. */
  ProcessorOptions options();

  /** Sessions in hand now. */
  int activeSessions();

  /**
   * Changes how many sessions are held at once, while running. Fewer: sessions in hand are finished
   * first.
   */
  void changeConcurrency(int maxConcurrentSessions);

  /**
   * Takes no new session, finishes the messages in hand, gives every session back. Returns within
   * the drain timeout; handlers that are still running then are interrupted and reported.
   */
  DrainReport drain();

  /** As {@link #drain()}. */
  @Override
  void close();

  /** What can be wished; everything has a default. */
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

    /** What follows the last attempt. The default is the queue's own policy. */
    Builder poisonPolicy(PoisonPolicy policy);

    /** Decides instead of {@link #retry} and {@link #poisonPolicy} when a handler throws. */
    Builder onFailure(FailurePolicy policy);

    /** How long {@link SessionProcessor#close()} waits for handlers. The default is 30 seconds. */
    Builder drainTimeout(Duration timeout);

    /** What is done around the handling of a session. The default is nothing. */
    Builder hooks(SessionHooks hooks);

    /** Who takes the sessions, for people who look. The default is a unique name. */
    Builder owner(Owner owner);

    /** Told what happens; may be given several times. */
    Builder listener(Consumer<? super ProcessorEvent> listener);

    Builder time(TimeSource time);

    Builder random(RandomGenerator random);

    SessionProcessor build();
  }
}
