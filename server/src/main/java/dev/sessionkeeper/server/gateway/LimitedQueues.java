package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.SessionSource;
import java.util.List;
import java.util.Optional;

/**
 * The queues as the processors of pushed bots see them: sessions within the limits of their bot.
 */
record LimitedQueues(QueueProvider inner, LimitHolds limits) implements QueueProvider {

  @Override
  public SessionSource sessions(QueueName queue) {
    return new LimitedSessions(queue, inner.sessions(queue), limits);
  }

  @Override
  public Capabilities capabilities() {
    return inner.capabilities();
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    return inner.declare(queue, settings);
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    return inner.settings(queue);
  }

  @Override
  public List<QueueName> queues() {
    return inner.queues();
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    return inner.send(queue, messages);
  }

  @Override
  public MessageSource messages(QueueName queue) {
    return inner.messages(queue);
  }

  /** The engine closes its provider. */
  @Override
  public void close() {}
}
