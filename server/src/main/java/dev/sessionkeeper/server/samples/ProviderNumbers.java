package dev.sessionkeeper.server.samples;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueProvider;
import java.util.HashMap;
import java.util.Map;

/** Reads the numbers that another provider offers; none if it offers none. */
final class ProviderNumbers implements ReadNumbers {
  private static final int MOST_QUEUES = 200;

  private final QueueProvider queues;

  ProviderNumbers(QueueProvider queues) {
    this.queues = queues;
  }

  @Override
  public Map<String, Sample.Numbers> read() {
    var all = new HashMap<String, Sample.Numbers>();
    if (queues instanceof InspectableQueues inspector) {
      for (var queue : queues.queues().stream().limit(MOST_QUEUES).toList()) {
        try {
          var stats = inspector.stats(queue);
          var settings = queues.settings(queue);
          all.put(
              queue.value(),
              new Sample.Numbers(
                  0,
                  0,
                  stats.depth(),
                  stats.deadLetters(),
                  stats.parkedSessions(),
                  stats.pausedSessions(),
                  stats.heldSessions(),
                  stats.oldestAge().toMillis(),
                  false,
                  settings.map(is -> is.mode().name()).orElse(""),
                  settings.map(is -> is.poisonPolicy().name()).orElse("")));
        } catch (KeeperException.UnknownQueue e) {
          // The queue was deleted after it was listed.
        }
      }
    }
    return all;
  }
}
