package dev.sessionkeeper.spi;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import java.time.Duration;

/** For providers that can lock a chosen session. SQS FIFO cannot, so it does not implement this. */
public interface AddressableSessions extends SessionSource {

  /**
   * Locks this session, waiting for work to be ready in it. A session that another owner holds is
   * refused at once with the time at which it becomes free, and so is one that an operator has set
   * aside.
   *
   * @return {@link AcceptResult.NoSession} when the session had no work ready in time
   */
  AcceptResult accept(SessionId session, Owner owner, Duration wait) throws InterruptedException;
}
