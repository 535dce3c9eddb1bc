package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.ForwardingProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.SessionSource;
import java.time.Duration;

/** A provider that delegates to another one; a test overrides how the next session is accepted. */
public class DelegatingProvider extends ForwardingProvider {

  public DelegatingProvider(QueueProvider inner) {
    super(inner);
  }

  /** Accepts the next session from the delegate. */
  protected AcceptResult acceptNext(SessionSource source, Owner owner, Duration wait)
      throws InterruptedException {
    return source.acceptNext(owner, wait);
  }

  @Override
  public SessionSource sessions(QueueName queue) {
    var source = super.sessions(queue);
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
}
