package dev.sessionkeeper.spi;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import java.util.Optional;

/**
 * For providers whose leases live in the store: any process may go on with a lease that it is
 * shown.
 */
public interface ResumableSessions extends AddressableSessions {

  /**
   * The session held under this epoch, whoever took it; empty when that lease is no longer held.
   *
   * <p>A resumed handle remembers nothing: each {@code receive} begins at the first open message,
   * so what was handed out before and is not settled comes again, with the same attempt. Several
   * handles on one lease may settle; the store keeps the order.
   *
   * <p>From the first call on the lease belongs to whoever shows its session and epoch: it outlives
   * this provider, whose {@code close} then leaves it to run on.
   */
  Optional<HeldSession> resume(SessionId session, long epoch);

  /**
   * As {@link #resume}, without asking the store first: whether the lease is still held is told by
   * the first call on the handle. For whoever makes one call and would pay for two.
   *
   * @throws KeeperException.LockLost if that can be told at once
   */
  HeldSession handle(SessionId session, long epoch);
}
