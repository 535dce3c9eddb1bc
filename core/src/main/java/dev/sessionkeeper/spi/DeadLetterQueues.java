package dev.sessionkeeper.spi;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import java.util.List;
import java.util.Optional;

/** For providers whose dead letters can be read and put back. */
public interface DeadLetterQueues {

  /** Dead letters, oldest first; of one session where one is given. */
  Page<DeadLetter> deadLetters(QueueName queue, Optional<SessionId> session, Page.Request page);

  /** One dead letter; empty when there is none of that id. By default this walks the list. */
  default Optional<DeadLetter> deadLetter(QueueName queue, String id) {
    var request = Page.Request.first(Page.Request.MAX_LIMIT);
    while (true) {
      var page = deadLetters(queue, Optional.empty(), request);
      var found = page.items().stream().filter(letter -> letter.id().equals(id)).findFirst();
      if (found.isPresent() || page.next().isEmpty()) {
        return found;
      }
      request = new Page.Request(Page.Request.MAX_LIMIT, page.next());
    }
  }

  /** How many messages {@link #replay} would put back now (D-03). */
  int countReplayable(QueueName queue, Selection selection);

  /**
   * Puts dead letters back in their original order, before newer messages of their session where
   * the provider can (D-02). They begin again at attempt 1. A second replay finds nothing and
   * changes nothing (D-03).
   *
   * @return how many were put back
   */
  int replay(QueueName queue, Selection selection);

  /** Forgets a dead letter for good; false when there is none of that id. */
  boolean discard(QueueName queue, String id);

  /** Which dead letters are meant. */
  sealed interface Selection {
    record All() implements Selection {}

    record OfSession(SessionId session) implements Selection {}

    record OfMessages(List<MessageId> ids) implements Selection {
      public OfMessages {
        ids = List.copyOf(ids);
      }
    }
  }
}
