package dev.sessionkeeper.spi;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * An exclusively held session. Closing it lets another owner take it.
 *
 * <p>Safe for one worker and one renewer at a time. Every call fails with {@link
 * KeeperException.LockLost} once the lease is no longer held, and then has changed nothing.
 */
public interface HeldSession extends AutoCloseable {

  SessionId id();

  /**
   * The lease as it was last seen: taken, or renewed. Where a session without open deliveries
   * cannot be kept, a {@link #receive} may have taken it anew, with a higher epoch.
   */
  Lease lease();

  /**
   * How long the lease was when it was taken, at least. The default is the queue's lock duration,
   * which is given; a store that has one lease for many sessions may have had less left of it.
   */
  default Duration takenFor(Duration lockDuration) {
    return lockDuration;
  }

  /**
   * The next messages behind those already handed out under this lease, in order; waits for the
   * first one. Empty when none came in time, and while the head waits for its retry.
   */
  List<Delivery> receive(int max, Duration wait) throws InterruptedException;

  /**
   * As {@link #receive(int, Duration)}, bounded in bytes as well. A message that does not fit is
   * not handed out, and its attempt is not used. By default a provider bounds the bytes through the
   * number of messages, as if each had the largest body.
   */
  default List<Delivery> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    return receive(limit.messagesOfAnySize(), wait);
  }

  /**
   * As {@link #receive}, for callers that poll repeatedly: the store need not be asked whether
   * something has come in the last moment, if it comes here by itself soon.
   */
  default List<Delivery> receiveKnown(int max, Duration wait) throws InterruptedException {
    return receive(max, wait);
  }

  /**
   * Settles deliveries in order, all or nothing. What was handed out behind a retried, or parked,
   * one is void and comes again later; that is no attempt.
   *
   * <p>The stage completes when the settlement is durable. It is a stage, and not a wait, because
   * stores group settlements: a worker may go on with the next message of the session meanwhile,
   * and after a crash what was not yet durable is delivered again, in order.
   *
   * @return fails with {@link KeeperException.OutOfOrder} if an earlier delivery of the session is
   *     open, with {@link KeeperException.LockLost} if the lease is gone; in both cases nothing was
   *     changed
   */
  CompletionStage<Void> settle(List<Settled> settlements);

  /**
   * As {@link #settle(List)}, and writes the state with it: both or, where the provider cannot, the
   * state first.
   *
   * @return fails with {@link KeeperException.StaleState} if the version does not match; then
   *     nothing was changed
   */
  CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state);

  /** Extends the lease by the queue's lock duration, counted by the store's clock. */
  Lease renew();

  /** The session's memory. */
  SessionState state();

  /**
   * Replaces the session's memory.
   *
   * @return the state as it is now, with its new version
   * @throws KeeperException.StaleState if the version does not match
   */
  SessionState writeState(SessionState.Write write);

  /**
   * Releases the session at once. Open deliveries become void. Closing twice, or a lost one, does
   * nothing.
   */
  @Override
  void close();

  /**
   * Returns whether a receive that does not wait may bring something, as far as is known without
   * asking the store. A caller with other sessions to serve can release this one if not: what has
   * come meanwhile is seen then.
   */
  default boolean mayHaveMore() {
    return true;
  }

  /**
   * Returns whether a close lets the settlements sent before it become durable, and itself with
   * them. Then the caller need not wait for these first, and both are one step for the store.
   */
  default boolean closesBehindSettlements() {
    return false;
  }

  /**
   * How one delivery ended.
   *
   * @param sequence that of the delivery
   */
  record Settled(long sequence, Settlement settlement) {}
}
