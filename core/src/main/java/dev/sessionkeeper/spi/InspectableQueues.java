package dev.sessionkeeper.spi;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import java.util.Optional;

/** For providers that can list sessions. */
public interface InspectableQueues {

  QueueStats stats(QueueName queue);

  /**
   * Lists sessions that have work, an owner or a reason to be set aside, by id; of one status if
   * given.
   */
  Page<SessionView> inspect(QueueName queue, Optional<SessionStatus> status, Page.Request page);
}
