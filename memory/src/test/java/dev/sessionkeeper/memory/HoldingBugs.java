package dev.sessionkeeper.memory;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Planted bugs of holding and waiting: S-01, S-02, S-05, S-07, S-08, S-10, S-11. */
final class HoldingBugs {
  private HoldingBugs() {}

  static List<PlantedBug> all() {
    return List.of(
        new PlantedBug("S-01", "a held session is given to a second owner", TwoOwners::new),
        new PlantedBug("S-01", "a held session is free as of now, so waiters spin", FreeNow::new),
        new PlantedBug("S-01", "the end of a lease ignores its renewal", ForgetsRenewal::new),
        session("S-02", "the epoch is not raised", SameEpoch::new),
        session("S-02", "a stale owner releases its successor's lease", StaleRelease::new),
        session("S-02", "a stale owner's settlement counts", StaleSettle::new),
        session("S-05", "the attempt count stays at one", AlwaysFirstAttempt::new),
        new PlantedBug("S-05", "a lease that ran out is never given up", NeverRunsOut::new),
        new PlantedBug("S-07", "the released session is picked again", PicksTheSame::new),
        new PlantedBug("S-07", "the first by name comes first", FirstByName::new),
        session("S-08", "closing frees nothing", KeepsTheLease::new),
        new PlantedBug("S-08", "an empty session stays behind", LeavesSessions::new),
        new PlantedBug("S-10", "no session is an error", ThrowsNoSession::new),
        new PlantedBug("S-10", "waits end at once", DoesNotWait::new),
        new PlantedBug("S-10", "waits take twice as long", WaitsTooLong::new),
        new PlantedBug("S-10", "all waiters wake when one session is ready", WakesAll::new),
        session("S-11", "the node's clock ends the lease", NodeClock::new));
  }

  /** A bug of the held session. */
  static PlantedBug session(String rule, String defect, Function<HeldSession, HeldSession> broken) {
    return session(rule, defect, (provider, session) -> broken.apply(session));
  }

  static PlantedBug session(
      String rule, String defect, BiFunction<InQueue, HeldSession, HeldSession> broken) {
    return new PlantedBug(
        rule,
        defect,
        time ->
            new Breakable(time) {
              @Override
              HeldSession held(QueueName queue, HeldSession session) {
                return broken.apply(new InQueue(this, queue), session);
              }
            });
  }

  /** The provider and queue of a held session. */
  record InQueue(Breakable provider, QueueName queue) {}

  private static final class TwoOwners extends Breakable {
    TwoOwners(TimeSource time) {
      super(time);
    }

    @Override
    AcceptResult accept(QueueName queue, SessionId session, Owner owner, Duration wait)
        throws InterruptedException {
      var result = super.accept(queue, session, owner, wait);
      return result instanceof AcceptResult.Locked
          ? asItsOwner(queue, session).<AcceptResult>map(AcceptResult.Accepted::new).orElse(result)
          : result;
    }
  }

  private static final class FreeNow extends Breakable {
    FreeNow(TimeSource time) {
      super(time);
    }

    @Override
    AcceptResult accept(QueueName queue, SessionId session, Owner owner, Duration wait)
        throws InterruptedException {
      var result = super.accept(queue, session, owner, wait);
      return result instanceof AcceptResult.Locked
          ? new AcceptResult.Locked(time.instant())
          : result;
    }
  }

  private static final class ForgetsRenewal extends Breakable {
    private final ConcurrentHashMap<SessionId, AcceptResult.Locked> first =
        new ConcurrentHashMap<>();

    ForgetsRenewal(TimeSource time) {
      super(time);
    }

    @Override
    HeldSession held(QueueName queue, HeldSession session) {
      first.put(session.id(), new AcceptResult.Locked(session.lease().until()));
      return session;
    }

    @Override
    AcceptResult accept(QueueName queue, SessionId session, Owner owner, Duration wait)
        throws InterruptedException {
      var result = super.accept(queue, session, owner, wait);
      return result instanceof AcceptResult.Locked locked
          ? first.getOrDefault(session, locked)
          : result;
    }
  }

  private static final class SameEpoch extends BreakableSession {
    SameEpoch(HeldSession inner) {
      super(inner);
    }

    @Override
    public Lease lease() {
      var lease = super.lease();
      return new Lease(lease.resource(), lease.owner(), 1, lease.until());
    }
  }

  private static final class StaleRelease extends BreakableSession {
    private final InQueue in;

    StaleRelease(InQueue in, HeldSession inner) {
      super(inner);
      this.in = in;
    }

    @Override
    public void close() {
      in.provider().asItsOwner(in.queue(), id()).ifPresent(HeldSession::close);
    }
  }

  private static final class StaleSettle extends BreakableSession {
    private final InQueue in;

    StaleSettle(InQueue in, HeldSession inner) {
      super(inner);
      this.in = in;
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      var owner = in.provider().asItsOwner(in.queue(), id());
      try {
        if (owner.isPresent()) {
          owner.get().receive(settlements.size(), Duration.ZERO);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return owner.map(o -> o.settle(settlements)).orElseGet(() -> inner.settle(settlements));
    }
  }

  private static final class AlwaysFirstAttempt extends BreakableSession {
    AlwaysFirstAttempt(HeldSession inner) {
      super(inner);
    }

    @Override
    public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
      return super.receive(max, wait).stream()
          .map(d -> new Delivery(d.message(), d.sequence(), 1, d.enqueuedAt()))
          .toList();
    }
  }

  private static final class NeverRunsOut extends Breakable {
    NeverRunsOut(TimeSource time) {
      super(time);
    }

    @Override
    HeldSession held(QueueName queue, HeldSession session) {
      renewForEver(session);
      return session;
    }

    private void renewForEver(HeldSession session) {
      time.schedule(
          Duration.ofMillis(100),
          () -> {
            try {
              session.renew();
              renewForEver(session);
            } catch (KeeperException e) {
              // The session was closed.
            }
          });
    }
  }

  private static final class PicksTheSame extends Breakable {
    private volatile @Nullable SessionId last;

    PicksTheSame(TimeSource time) {
      super(time);
    }

    @Override
    AcceptResult acceptNext(QueueName queue, Owner owner, Duration wait)
        throws InterruptedException {
      var again = last;
      var result =
          again == null
              ? new AcceptResult.NoSession()
              : super.accept(queue, again, owner, Duration.ZERO);
      if (!(result instanceof AcceptResult.Accepted)) {
        result = super.acceptNext(queue, owner, wait);
      }
      if (result instanceof AcceptResult.Accepted accepted) {
        last = accepted.session().id();
      }
      return result;
    }
  }

  private static final class FirstByName extends Breakable {
    FirstByName(TimeSource time) {
      super(time);
    }

    @Override
    AcceptResult acceptNext(QueueName queue, Owner owner, Duration wait)
        throws InterruptedException {
      var ready = inspect(queue, Optional.of(SessionStatus.READY), Page.Request.first(1)).items();
      return ready.isEmpty()
          ? super.acceptNext(queue, owner, wait)
          : super.accept(queue, ready.getFirst().id(), owner, wait);
    }
  }

  private static final class KeepsTheLease extends BreakableSession {
    KeepsTheLease(HeldSession inner) {
      super(inner);
    }

    @Override
    public void close() {
      // The planted bug.
    }
  }

  private static final class LeavesSessions extends Breakable {
    LeavesSessions(TimeSource time) {
      super(time);
    }

    @Override
    public QueueStats stats(QueueName queue) {
      var stats = super.stats(queue);
      return new QueueStats(
          stats.depth(), 1, stats.heldSessions(), stats.deadLetters(), stats.oldestAge());
    }

    @Override
    public Page<SessionView> inspect(
        QueueName queue, Optional<SessionStatus> status, Page.Request page) {
      return super.inspect(queue, status, page);
    }
  }

  private static final class ThrowsNoSession extends Breakable {
    ThrowsNoSession(TimeSource time) {
      super(time);
    }

    @Override
    AcceptResult acceptNext(QueueName queue, Owner owner, Duration wait)
        throws InterruptedException {
      var result = super.acceptNext(queue, owner, wait);
      if (result instanceof AcceptResult.NoSession) {
        throw new KeeperException.Unavailable("A session");
      }
      return result;
    }
  }

  private static final class DoesNotWait extends Breakable {
    DoesNotWait(TimeSource time) {
      super(time);
    }

    @Override
    AcceptResult acceptNext(QueueName queue, Owner owner, Duration wait)
        throws InterruptedException {
      return super.acceptNext(queue, owner, Duration.ZERO);
    }
  }

  private static final class WaitsTooLong extends Breakable {
    WaitsTooLong(TimeSource time) {
      super(time);
    }

    @Override
    AcceptResult acceptNext(QueueName queue, Owner owner, Duration wait)
        throws InterruptedException {
      return super.acceptNext(queue, owner, wait.multipliedBy(2));
    }
  }

  private static final class WakesAll extends Breakable {
    private volatile CompletableFuture<Void> sent = new CompletableFuture<>();

    WakesAll(TimeSource time) {
      super(time);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      var outcomes = super.send(queue, messages);
      var everyone = sent;
      sent = new CompletableFuture<>();
      everyone.complete(null);
      return outcomes;
    }

    @Override
    AcceptResult acceptNext(QueueName queue, Owner owner, Duration wait)
        throws InterruptedException {
      var result = super.acceptNext(queue, owner, Duration.ZERO);
      if (wait.isZero() || result instanceof AcceptResult.Accepted) {
        return result;
      }
      var wake = sent;
      var timer = time.schedule(wait, () -> wake.complete(null));
      wake.join();
      timer.cancel();
      return super.acceptNext(queue, owner, Duration.ZERO);
    }
  }

  private static final class NodeClock extends BreakableSession {
    private final InQueue in;
    private final Instant until;

    NodeClock(InQueue in, HeldSession inner) {
      super(inner);
      this.in = in;
      this.until = inner.lease().until();
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      return in.provider().time.instant().isAfter(until)
          ? CompletableFuture.failedFuture(
              new KeeperException.LockLost(id().value(), lease().epoch()))
          : super.settle(settlements);
    }
  }
}
