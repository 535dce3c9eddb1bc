package dev.sessionkeeper.postgres;

import dev.sessionkeeper.postgres.queue.LocalQueue;
import dev.sessionkeeper.postgres.unordered.UnorderedQueue;

/** A queue that this process uses: ordered or unordered. */
sealed interface OpenQueue {
  LocalQueue queue();

  record Ordered(OrderedQueue queue) implements OpenQueue {}

  record Unordered(UnorderedQueue queue) implements OpenQueue {}
}
