package dev.sessionkeeper.spi;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * For providers whose leases live in the store: any process may go on with a lease that it is
 * shown.
 */
public interface ResumableSessions extends AddressableSessions {

  /** As declared; by default with as many calls at once, which a store can answer in one step. */
  @Override
  default List<HeldSession> acceptUpTo(Owner owner, int most, Duration wait)
      throws InterruptedException {
    return AcceptTogether.accept(this, owner, most, wait);
  }

  /**
   * Returns the session held under this epoch, in whichever process it was accepted; empty if that
   * lease is no longer held.
   *
   * <p>A resumed handle remembers nothing: each {@code receive} begins at the first open message,
   * so what was handed out before and is not settled comes again, with the same attempt. Several
   * handles on one lease may settle; the store keeps the order.
   *
   * <p>From the first call on the lease belongs to any caller that presents its session and epoch:
   * it outlives this provider, whose {@code close} then leaves it to run on.
   */
  Optional<HeldSession> resume(SessionId session, long epoch);

  /**
   * As {@link #resume}, without asking the store first: whether the lease is still held is told by
   * the first call on the handle. For callers that make one call and would otherwise pay for two.
   *
   * @throws KeeperException.LockLost if that can be told at once
   */
  HeldSession handle(SessionId session, long epoch);
}
