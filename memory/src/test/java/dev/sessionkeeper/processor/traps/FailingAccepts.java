package dev.sessionkeeper.processor.traps;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.SessionSource;
import dev.sessionkeeper.testkit.DelegatingProvider;
import java.time.Duration;

/** A provider whose accept a trap can change. */
class FailingAccepts extends DelegatingProvider {
  private final QueueProvider real;

  FailingAccepts(QueueProvider real) {
    super(real);
    this.real = real;
  }

  AcceptResult accept(Owner owner, Duration wait) throws InterruptedException {
    return real.sessions(Traps.QUEUE).acceptNext(owner, wait);
  }

  @Override
  protected AcceptResult acceptNext(SessionSource source, Owner owner, Duration wait)
      throws InterruptedException {
    return accept(owner, wait);
  }
}
