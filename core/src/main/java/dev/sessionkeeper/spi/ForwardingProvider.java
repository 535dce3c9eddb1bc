package dev.sessionkeeper.spi;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import java.util.List;
import java.util.Optional;

/**
 * A provider that delegates to another one; a subclass overrides what it changes.
 *
 * <p>It offers none of the optional interfaces, whatever the other provider supports.
 */
public abstract class ForwardingProvider implements QueueProvider {
  private final QueueProvider inner;

  protected ForwardingProvider(QueueProvider inner) {
    this.inner = inner;
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
  public List<QueueName> declaredQueues() {
    return inner.declaredQueues();
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    return inner.send(queue, messages);
  }

  @Override
  public SessionSource sessions(QueueName queue) {
    return inner.sessions(queue);
  }

  @Override
  public MessageSource messages(QueueName queue) {
    return inner.messages(queue);
  }

  @Override
  public void close() {
    inner.close();
  }
}
