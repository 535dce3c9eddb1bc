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
 * An exclusively held session. Closing it lets another owner accept it.
 *
 * <p>Safe for use by one worker and one renewer at a time. Once the lease is lost, every call fails
 * with {@link KeeperException.LockLost} and changes nothing.
 */
public interface HeldSession extends AutoCloseable {

  SessionId id();

  /**
   * Returns the lease as last seen. If the provider cannot keep a session without open deliveries,
   * a {@link #receive} may have taken it anew, with a higher epoch.
   */
  Lease lease();

  /**
   * Returns the least remaining time of the lease when it was taken. The default is the queue's
   * lock duration, which is the argument. A store with one lease for many sessions may have had
   * less time left.
   */
  default Duration takenFor(Duration lockDuration) {
    return lockDuration;
  }

  /**
   * Returns the next messages behind those already delivered under this lease, in order, and waits
   * for the first one. Empty if none came in time, and while the head waits for its retry.
   */
  List<Delivery> receive(int max, Duration wait) throws InterruptedException;

  /**
   * Receives as {@link #receive(int, Duration)} does, bounded in bytes as well. A message that does
   * not fit is not delivered, and its attempt is not used. By default a provider bounds the bytes
   * through the number of messages, as if each had the largest body.
   */
  default List<Delivery> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    return receive(limit.messagesOfAnySize(), wait);
  }

  /**
   * Receives as {@link #receive} does, for callers that poll repeatedly. The provider may answer
   * from memory if it learns of new messages soon without asking.
   */
  default List<Delivery> receiveKnown(int max, Duration wait) throws InterruptedException {
    return receive(max, wait);
  }

  /**
   * Settles deliveries in order, all or nothing. Deliveries behind a retried or parked message are
   * void and come again later, without using an attempt.
   *
   * <p>The stage completes when the settlement is durable. The call does not wait, because stores
   * batch settlements: a worker may continue with the next message of the session. After a crash,
   * messages whose settlement was not durable are delivered again, in order.
   *
   * @return fails with {@link KeeperException.OutOfOrder} if an earlier delivery of the session is
   *     open, with {@link KeeperException.LockLost} if the lease is lost; in both cases nothing was
   *     changed
   */
  CompletionStage<Void> settle(List<Settled> settlements);

  /**
   * Settles as {@link #settle(List)} does, and writes the state as well: both in one step or, if
   * the provider cannot, the state first.
   *
   * @return fails with {@link KeeperException.StaleState} if the version does not match; then
   *     nothing was changed
   */
  CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state);

  /** Extends the lease by the queue's lock duration, counted by the store's clock. */
  Lease renew();

  /** Returns the session's state. */
  SessionState state();

  /**
   * Replaces the session's state.
   *
   * @return the state with its new version
   * @throws KeeperException.StaleState if the version does not match
   */
  SessionState writeState(SessionState.Write write);

  /**
   * Releases the session at once. Open deliveries become void. Closing a session that is closed or
   * lost does nothing.
   */
  @Override
  void close();

  /**
   * Returns whether a receive without waiting may bring a message, as far as this process knows
   * without asking the store. If not, a caller that serves other sessions should release this one;
   * a message that has come meanwhile is found at the next accept.
   */
  default boolean mayHaveMore() {
    return true;
  }

  /**
   * Returns whether a close completes the settlements sent before it in the same step of the store.
   * If so, the caller need not wait for these settlements before it closes.
   */
  default boolean closesBehindSettlements() {
    return false;
  }

  /**
   * How one delivery ended.
   *
   * @param sequence the sequence number of the delivery
   */
  record Settled(long sequence, Settlement settlement) {}
}
