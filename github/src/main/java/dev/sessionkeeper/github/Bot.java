package dev.sessionkeeper.github;

import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import java.time.Duration;
import java.util.Optional;

/**
 * A subscriber to GitHub events: its subscription, ordering, message format and limits.
 *
 * @param queue the queue of the bot's messages; named after the bot by default
 * @param queueSettings the settings of that queue, whose mode follows from the ordering
 * @param deliver where messages are pushed; a bot without it pulls
 */
public record Bot(
    String name,
    QueueName queue,
    Subscription subscription,
    Ordering ordering,
    SessionLimits limits,
    QueueSettings queueSettings,
    MessageFormat format,
    Optional<PushTarget> deliver) {
  public Bot {
    if (queueSettings.mode() != ordering.mode()) {
      throw new IllegalArgumentException(
          "The queue of a bot with ordering_scope "
              + ordering.scope()
              + " is "
              + ordering.mode()
              + ", was "
              + queueSettings.mode());
    }
  }

  /** Returns a pulling bot with all defaults. */
  public static Bot of(String name, Subscription subscription, OrderingScope scope) {
    var ordering = Ordering.by(scope);
    return new Bot(
        name,
        QueueName.of(name),
        subscription,
        ordering,
        SessionLimits.ofDefaults(),
        (ordering.mode() == QueueMode.ORDERED ? QueueSettings.ordered() : QueueSettings.unordered())
            .withLockDuration(Duration.ofMinutes(5)),
        MessageFormat.RAW,
        Optional.empty());
  }

  public Bot withOrdering(Ordering other) {
    return new Bot(name, queue, subscription, other, limits, queueSettings, format, deliver);
  }

  public Bot withFormat(MessageFormat other) {
    return new Bot(name, queue, subscription, ordering, limits, queueSettings, other, deliver);
  }
}
