package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.SessionSource;
import dev.sessionkeeper.testkit.DelegatingProvider;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** A provider whose calls a test can intercept by overriding them. */
class TamperedProvider extends DelegatingProvider {
  TamperedProvider(QueueProvider real) {
    super(real);
  }

  HeldSession held(HeldSession session) {
    return session;
  }

  @Override
  protected AcceptResult acceptNext(SessionSource source, Owner owner, Duration wait)
      throws InterruptedException {
    return super.acceptNext(source, owner, wait) instanceof AcceptResult.Accepted accepted
        ? new AcceptResult.Accepted(held(accepted.session()))
        : new AcceptResult.NoSession();
  }

  /** A held session whose calls a test can intercept. */
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
