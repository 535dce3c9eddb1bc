package dev.sessionkeeper.spi;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import java.util.List;
import java.util.Optional;

/** For providers whose dead letters can be read and replayed. */
public interface DeadLetterQueues {

  /** Returns dead letters, oldest first, of one session or of the whole queue. */
  Page<DeadLetter> deadLetters(QueueName queue, Optional<SessionId> session, Page.Request page);

  /**
   * Returns one dead letter; empty if there is none with that id. By default this walks the list.
   */
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

  /** Returns how many messages {@link #replay} would put back now (D-03). */
  int countReplayable(QueueName queue, Selection selection);

  /**
   * Puts dead letters back in their original order, before newer messages of their session where
   * the provider can (D-02). They begin again at attempt 1. A second replay finds nothing and
   * changes nothing (D-03).
   *
   * @return how many were put back
   */
  int replay(QueueName queue, Selection selection);

  /** Deletes a dead letter for good. Returns false if there is none with that id. */
  boolean discard(QueueName queue, String id);

  /** Selects dead letters. */
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
