package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** A hold that records its events in a journal before another process can know of them. */
final class RecordingSession implements HeldSession {
  private final HeldSession inner;
  private final Journal journal;
  private final String id;
  private final Map<Long, Long> numbers = new ConcurrentHashMap<>();
  private final AtomicLong told = new AtomicLong();

  RecordingSession(HeldSession inner, Journal journal) {
    this.inner = inner;
    this.journal = journal;
    this.id = inner.id().value();
  }

  void accepted(long began) {
    var lease = inner.lease();
    long until = endOf(lease);
    told.set(until);
    journal.accepted(began, id, lease.epoch(), until);
  }

  /** Returns the number that a sender gave to this message. */
  static long numberOf(Delivery delivery) {
    return Long.parseLong(delivery.payload().asText());
  }

  static Outcome outcomeOf(Settlement settlement) {
    return switch (settlement) {
      case Settlement.Complete complete -> Outcome.COMPLETE;
      case Settlement.DeadLetter dead -> Outcome.DEAD_LETTER;
      case Settlement.Retry retry -> Outcome.RETRY;
      case Settlement.Park park -> Outcome.RETRY;
    };
  }

  /** Returns the end of the lease on the machine's monotonic clock. */
  private static long endOf(Lease lease) {
    return FakeClock.monotonic(lease.until());
  }

  private Lease recorded(Lease lease) {
    long until = endOf(lease);
    // A smaller difference is the same lease, read at another moment.
    if (until - told.get() > 1_000_000) {
      told.set(until);
      journal.hold(Kind.RENEWED, id, lease.epoch(), until);
    }
    return lease;
  }

  private List<Delivery> recorded(List<Delivery> deliveries) {
    long epoch = inner.lease().epoch();
    for (var delivery : deliveries) {
      long number = numberOf(delivery);
      numbers.put(delivery.sequence(), number);
      journal.write(
          Kind.HANDED, id, number, epoch, delivery.attempt(), Long.toString(delivery.sequence()));
    }
    return deliveries;
  }

  private CompletionStage<Void> recorded(
      List<Settled> settlements, java.util.function.Supplier<CompletionStage<Void>> call) {
    long epoch = inner.lease().epoch();
    write(Kind.SETTLING, settlements, epoch);
    try {
      return call.get().whenComplete((nothing, error) -> answered(settlements, epoch, error));
    } catch (KeeperException e) {
      refused(settlements, epoch, e);
      throw e;
    }
  }

  private void answered(
      List<Settled> settlements, long epoch, @org.jspecify.annotations.Nullable Throwable error) {
    if (error == null) {
      write(Kind.SETTLED, settlements, epoch);
    } else {
      var cause = error instanceof CompletionException ? error.getCause() : error;
      refused(settlements, epoch, cause == null ? error : cause);
    }
  }

  private void refused(List<Settled> settlements, long epoch, Throwable error) {
    var name = error.getClass().getSimpleName();
    for (var settled : settlements) {
      journal.message(Kind.REFUSED, id, numbers.getOrDefault(settled.sequence(), 0L), epoch, name);
    }
    lost(error);
  }

  private void write(Kind kind, List<Settled> settlements, long epoch) {
    for (var settled : settlements) {
      journal.message(
          kind,
          id,
          numbers.getOrDefault(settled.sequence(), 0L),
          epoch,
          outcomeOf(settled.settlement()).name());
    }
  }

  private void lost(Throwable error) {
    if (error instanceof KeeperException.LockLost) {
      journal.hold(Kind.LOST, id, inner.lease().epoch(), 0);
    }
  }

  @Override
  public SessionId id() {
    return inner.id();
  }

  @Override
  public Lease lease() {
    return recorded(inner.lease());
  }

  @Override
  public Duration takenFor(Duration lockDuration) {
    return inner.takenFor(lockDuration);
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    return recorded(inner.receive(max, wait));
  }

  @Override
  public List<Delivery> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    return recorded(inner.receive(limit, wait));
  }

  @Override
  public List<Delivery> receiveKnown(int max, Duration wait) throws InterruptedException {
    return recorded(inner.receiveKnown(max, wait));
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    return recorded(settlements, () -> inner.settle(settlements));
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    return recorded(settlements, () -> inner.settle(settlements, state));
  }

  @Override
  public Lease renew() {
    try {
      return recorded(inner.renew());
    } catch (KeeperException.LockLost e) {
      lost(e);
      throw e;
    }
  }

  @Override
  public SessionState state() {
    return inner.state();
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    return inner.writeState(write);
  }

  @Override
  public void close() {
    journal.hold(Kind.CLOSING, id, inner.lease().epoch(), 0);
    inner.close();
  }

  @Override
  public boolean mayHaveMore() {
    return inner.mayHaveMore();
  }

  @Override
  public boolean closesBehindSettlements() {
    return inner.closesBehindSettlements();
  }
}
