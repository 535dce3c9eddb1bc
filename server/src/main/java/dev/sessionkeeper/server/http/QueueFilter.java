package dev.sessionkeeper.server.http;

import dev.sessionkeeper.QueueName;
import java.util.Set;

/** The queues that a list may show. */
public sealed interface QueueFilter {

  record All() implements QueueFilter {}

  record Only(Set<QueueName> queues) implements QueueFilter {
    public Only {
      queues = Set.copyOf(queues);
    }
  }

  /** Returns whether the list may show this queue. */
  default boolean includes(QueueName queue) {
    return switch (this) {
      case All all -> true;
      case Only only -> only.queues().contains(queue);
    };
  }
}
