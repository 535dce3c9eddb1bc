package dev.sessionkeeper.spi;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import java.time.Duration;

/** For providers that can lock a chosen session. SQS FIFO cannot, so it does not implement this. */
public interface AddressableSessions extends SessionSource {

  /**
   * Locks this session, waiting until it has work. A session that another owner holds is refused at
   * once with the end of its lease; so is a session that an operator has set aside.
   *
   * @return {@link AcceptResult.NoSession} if the session had no work in time
   */
  AcceptResult accept(SessionId session, Owner owner, Duration wait) throws InterruptedException;
}
