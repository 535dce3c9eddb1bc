package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.QueueProvider;
import java.util.Collection;
import java.util.List;
import java.util.function.ToIntBiFunction;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replays those of some messages that are dead letters now. */
final class ReplayDeadLetters {
  private static final Logger log = LoggerFactory.getLogger(ReplayDeadLetters.class);

  private final QueueProvider queues;

  ReplayDeadLetters(QueueProvider queues) {
    this.queues = queues;
  }

  /** Replays dead letters, each once however often it is called; returns how many. */
  int replay(Collection<RoutedMessage> routes) {
    return forEachQueue(routes, letters()::replay);
  }

  /** Returns how many {@link #replay} would put back now. */
  int count(Collection<RoutedMessage> routes) {
    return forEachQueue(routes, letters()::countReplayable);
  }

  /** Returns whether the provider can replay dead letters. */
  boolean isPossible() {
    return queues instanceof DeadLetterQueues;
  }

  private DeadLetterQueues letters() {
    if (queues instanceof DeadLetterQueues able) {
      return able;
    }
    throw new KeeperException.NotSupported(queues.capabilities().provider(), "deadLetters");
  }

  private static int forEachQueue(
      Collection<RoutedMessage> routes, ToIntBiFunction<QueueName, Selection> act) {
    var byQueue =
        routes.stream()
            .collect(
                Collectors.groupingBy(
                    RoutedMessage::queue,
                    Collectors.mapping(
                        route -> MessageId.of(route.messageId()), Collectors.toList())));
    int count = 0;
    for (var entry : byQueue.entrySet()) {
      count += onQueue(QueueName.of(entry.getKey()), entry.getValue(), act);
    }
    return count;
  }

  private static int onQueue(
      QueueName queue, List<MessageId> ids, ToIntBiFunction<QueueName, Selection> act) {
    try {
      return act.applyAsInt(queue, new Selection.OfMessages(ids));
    } catch (KeeperException.UnknownQueue e) {
      log.debug("The queue {} of a former bot is gone", queue);
      return 0;
    }
  }
}
