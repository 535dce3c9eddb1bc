package dev.sessionkeeper.spi;

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
   * <p>Two handles on one lease see the same deliveries and may both settle them; the store keeps
   * the order.
   */
  Optional<HeldSession> resume(SessionId session, long epoch);
}
