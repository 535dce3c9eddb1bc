package dev.sessionkeeper.memory;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.QueueStats;
import java.util.List;

/** A queue of either mode. */
sealed interface MemoryQueue permits OrderedQueue, UnorderedQueue {
  QueueBooks books();

  List<SendOutcome> send(List<Message> messages);

  int replay(Selection selection);

  QueueStats stats();

  /** Deletes all messages, also open ones; returns how many there were. */
  long purge();

  /** Applies expired leases, due retries and expired messages. */
  void runDue();

  void close();
}
