package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.SessionSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A provider whose calls a test can get in between; override what is to behave otherwise. */
class TamperedProvider implements QueueProvider {
  private final QueueProvider real;

  TamperedProvider(QueueProvider real) {
    this.real = real;
  }

  AcceptResult acceptNext(SessionSource source, Owner owner, Duration wait)
      throws InterruptedException {
    return source.acceptNext(owner, wait);
  }

  HeldSession held(HeldSession session) {
    return session;
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
  public SessionSource sessions(QueueName queue) {
    var source = real.sessions(queue);
    return new SessionSource() {
      @Override
      public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
        return TamperedProvider.this.acceptNext(source, owner, wait)
                instanceof AcceptResult.Accepted accepted
            ? new AcceptResult.Accepted(held(accepted.session()))
            : new AcceptResult.NoSession();
      }

      @Override
      public boolean hasReadySession() {
        return source.hasReadySession();
      }
    };
  }

  @Override
  public MessageSource messages(QueueName queue) {
    return real.messages(queue);
  }

  @Override
  public void close() {
    real.close();
  }

  /** A held session whose calls a test can get in between. */
  static class TamperedSession implements HeldSession {
    final HeldSession real;

    TamperedSession(HeldSession real) {
      this.real = real;
    }

    @Override
    public SessionId id() {
      return real.id();
    }

    @Override
    public Lease lease() {
      return real.lease();
    }

    @Override
    public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
      return real.receive(max, wait);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      return real.settle(settlements);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
      return real.settle(settlements, state);
    }

    @Override
    public Lease renew() {
      return real.renew();
    }

    @Override
    public SessionState state() {
      return real.state();
    }

    @Override
    public SessionState writeState(SessionState.Write write) {
      return real.writeState(write);
    }

    @Override
    public void close() {
      real.close();
    }
  }
}
