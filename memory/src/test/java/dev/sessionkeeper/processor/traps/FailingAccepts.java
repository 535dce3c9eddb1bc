package dev.sessionkeeper.processor.traps;

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

/** A provider whose way to take a session a trap can change. */
class FailingAccepts implements QueueProvider {
  private final QueueProvider real;

  FailingAccepts(QueueProvider real) {
    this.real = real;
  }

  AcceptResult accept(Owner owner, Duration wait) throws InterruptedException {
    return real.sessions(Traps.QUEUE).acceptNext(owner, wait);
  }

  @Override
  public SessionSource sessions(QueueName queue) {
    return new SessionSource() {
      @Override
      public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
        return accept(owner, wait);
      }

      @Override
      public boolean hasReadySession() {
        return real.sessions(queue).hasReadySession();
      }
    };
  }

  @Override
  public Capabilities capabilities() {
    return real.capabilities();
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    return real.declare(queue, settings);
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    return real.settings(queue);
  }

  @Override
  public List<QueueName> queues() {
    return real.queues();
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    return real.send(queue, messages);
  }

  @Override
  public MessageSource messages(QueueName queue) {
    return real.messages(queue);
  }

  @Override
  public void close() {
    real.close();
  }
}
