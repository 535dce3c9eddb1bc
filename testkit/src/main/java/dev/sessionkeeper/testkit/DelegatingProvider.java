package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.SessionSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A provider around another one; a test overrides what is to behave otherwise.
 *
 * <p>It offers only what every provider must: no chosen sessions, no inspection, no acts, no dead
 * letters, whatever the one inside can do.
 */
public class DelegatingProvider implements QueueProvider {
  private final QueueProvider inner;

  public DelegatingProvider(QueueProvider inner) {
    this.inner = inner;
  }

  /** Takes the next session from the source inside. */
  protected AcceptResult acceptNext(SessionSource source, Owner owner, Duration wait)
      throws InterruptedException {
    return source.acceptNext(owner, wait);
  }

  @Override
  public SessionSource sessions(QueueName queue) {
    var source = inner.sessions(queue);
    return new SessionSource() {
      @Override
      public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
        return DelegatingProvider.this.acceptNext(source, owner, wait);
      }

      @Override
      public boolean hasReadySession() {
        return source.hasReadySession();
      }
    };
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

  @Override
  public void close() {
    inner.close();
  }
}
