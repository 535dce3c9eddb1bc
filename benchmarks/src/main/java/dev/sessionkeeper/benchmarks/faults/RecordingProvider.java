package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.SessionSource;
import dev.sessionkeeper.testkit.DelegatingProvider;
import java.time.Duration;

/** A provider that records accepts, deliveries, settlements and releases in a journal. */
final class RecordingProvider extends DelegatingProvider {
  private final PostgresQueueProvider inner;
  private final Journal journal;

  RecordingProvider(PostgresQueueProvider inner, Journal journal) {
    super(inner);
    this.inner = inner;
    this.journal = journal;
  }

  @Override
  public SessionSource sessions(QueueName queue) {
    var source = inner.sessions(queue);
    return new SessionSource() {
      @Override
      public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
        long began = System.nanoTime();
        return recorded(began, source.acceptNext(owner, wait));
      }

      @Override
      public boolean hasReadySession() {
        return source.hasReadySession();
      }

      @Override
      public boolean isFull() {
        return source.isFull();
      }
    };
  }

  /** Accepts a chosen session. */
  AcceptResult accept(QueueName queue, SessionId session, Owner owner, Duration wait)
      throws InterruptedException {
    long began = System.nanoTime();
    return recorded(began, inner.sessions(queue).accept(session, owner, wait));
  }

  private AcceptResult recorded(long began, AcceptResult result) {
    if (!(result instanceof AcceptResult.Accepted accepted)) {
      return result;
    }
    var session = new RecordingSession(accepted.session(), journal);
    session.accepted(began);
    return new AcceptResult.Accepted(session);
  }
}
