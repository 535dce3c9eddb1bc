package dev.sessionkeeper.spi;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * For providers whose leases live in the store, so that any process with its epoch can continue a
 * lease.
 */
public interface ResumableSessions extends AddressableSessions {

  /**
   * Accepts sessions as declared in {@link SessionSource}; by default with concurrent calls, which
   * a store can answer in one step.
   */
  @Override
  default List<HeldSession> acceptUpTo(Owner owner, int most, Duration wait)
      throws InterruptedException {
    return AcceptTogether.accept(this, owner, most, wait);
  }

  /**
   * Returns the session held under this epoch, in whichever process it was accepted; empty if that
   * lease is no longer held.
   *
   * <p>A resumed handle has no memory of earlier deliveries. Each {@code receive} begins at the
   * first open message, so deliveries that are not settled come again, with the same attempt.
   * Several handles on one lease may settle; the store keeps the order.
   *
   * <p>From the first call on, any caller that presents the session and its epoch may use the
   * lease. The lease outlives this provider, whose {@code close} does not release it.
   */
  Optional<HeldSession> resume(SessionId session, long epoch);

  /**
   * Returns a handle as {@link #resume} does, without asking the store first: the first call on the
   * handle fails if the lease is lost. Saves callers that make one call a second one.
   *
   * @throws KeeperException.LockLost if the provider knows that the lease is lost
   */
  HeldSession handle(SessionId session, long epoch);
}
