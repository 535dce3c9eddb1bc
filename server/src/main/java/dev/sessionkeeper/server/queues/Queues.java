package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;

/**
 * The provider as routes use it: queues by name, and its optional interfaces, or a problem that
 * names the missing one.
 */
public final class Queues {
  /** The longest wait within one request. */
  static final Duration MAX_WAIT = Duration.ofSeconds(60);

  private final QueueProvider provider;

  public Queues(QueueProvider provider) {
    this.provider = provider;
  }

  public QueueProvider provider() {
    return provider;
  }

  /**
   * Returns the queue named in the path. An invalid name is answered like a queue that does not
   * exist.
   */
  public QueueName named(Request request) {
    try {
      return QueueName.of(request.parameter("queue"));
    } catch (IllegalArgumentException e) {
      throw ProblemType.UNKNOWN_QUEUE.with("There is no queue of that name").toException();
    }
  }

  public QueueSettings settings(QueueName queue) {
    return provider.settings(queue).orElseThrow(() -> new KeeperException.UnknownQueue(queue));
  }

  public InspectableQueues inspectable() {
    return able(InspectableQueues.class, "inspect");
  }

  public OperableSessions operable() {
    return able(OperableSessions.class, "operate");
  }

  public DeadLetterQueues deadLetters() {
    return able(DeadLetterQueues.class, "deadLetters");
  }

  public <T> T able(Class<T> ability, String capability) {
    return able(ability, provider, capability);
  }

  <T> T able(Class<T> ability, Object able, String capability) {
    if (ability.isInstance(able)) {
      return ability.cast(able);
    }
    var name = provider.capabilities().provider();
    throw ProblemType.NOT_SUPPORTED
        .with("The provider " + name + " does not have the capability " + capability)
        .and("provider", name)
        .and("capability", capability)
        .toException();
  }
}
