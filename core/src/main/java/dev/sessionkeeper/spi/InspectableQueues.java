package dev.sessionkeeper.spi;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import java.util.Optional;

/** For providers that can show what is going on. */
public interface InspectableQueues {

  QueueStats stats(QueueName queue);

  /**
   * Sessions that have work, an owner or a reason to be set aside, by id; of one status where one
   * is given.
   */
  Page<SessionView> inspect(QueueName queue, Optional<SessionStatus> status, Page.Request page);
}
