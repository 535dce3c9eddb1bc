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
   * <p>A handle that was resumed begins with the first open delivery: what was handed out under
   * this lease and is not settled yet it hands out again, as the same attempt. So an owner that
   * lost an answer asks again, through any process. Two handles on one lease may both settle; the
   * store keeps the order.
   */
  Optional<HeldSession> resume(SessionId session, long epoch);
}
