package dev.sessionkeeper.simulator;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueMode;
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
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** A provider whose queue is in a modelled store on the other side of a link. */
final class QueueClient implements QueueProvider {
  static final QueueName QUEUE = QueueName.of("simulation");
  private static final Duration POLL = Duration.ofMillis(150);

  private final World world;
  private final World.Machine node;
  private final SimulatedTime time;
  private final Link link;
  private final Store store;
  private final QueueSettings settings;
  private final Set<Bug> bugs;
  private final boolean isPipelined;

  QueueClient(
      World world,
      World.Machine node,
      SimulatedTime time,
      Link link,
      Store store,
      QueueSettings settings,
      Set<Bug> bugs,
      boolean isPipelined) {
    this.world = world;
    this.node = node;
    this.time = time;
    this.link = link;
    this.store = store;
    this.settings = settings;
    this.bugs = bugs;
    this.isPipelined = isPipelined;
  }

  @Override
  public Capabilities capabilities() {
    return new Capabilities("model", Limits.DEFAULT, true, true, true, Map.of());
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings wanted) {
    return false;
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    return Optional.of(
        bugs.contains(Bug.LEASE_TOLD_TOO_LONG)
            ? settings.withLockDuration(settings.lockDuration().multipliedBy(4))
            : settings);
  }

  @Override
  public List<QueueName> queues() {
    return List.of(QUEUE);
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    return link.call(
        "send " + messages.get(0).id() + " x" + messages.size(),
        () -> store.tables().send(messages, store.now()));
  }

  @Override
  public SessionSource sessions(QueueName queue) {
    return new Sessions();
  }

  @Override
  public MessageSource messages(QueueName queue) {
    throw new KeeperException.SessionModeMismatch(queue, QueueMode.ORDERED, "messages");
  }

  @Override
  public void close() {
    // The tables outlive their clients.
  }

  private final class Sessions implements SessionSource {
    @Override
    public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
      long until = time.nanoTime() + wait.toNanos();
      while (true) {
        var granted = link.call("accept", () -> store.tables().accept(node.name, store.now()));
        if (granted.isPresent()) {
          return new AcceptResult.Accepted(new Held(granted.get(), owner));
        }
        long left = until - time.nanoTime();
        if (left <= 0) {
          return new AcceptResult.NoSession();
        }
        time.sleep(Duration.ofNanos(Math.min(left, POLL.toNanos())));
      }
    }

    @Override
    public boolean hasReadySession() {
      return link.call("look", () -> store.tables().hasReady(store.now()));
    }
  }

  private final class Held implements HeldSession {
    private final SessionId id;
    private final Owner owner;
    private Lease lease;
    private long lastArrival;

    Held(QueueTables.Granted granted, Owner owner) {
      this.id = granted.session();
      this.owner = owner;
      this.lease = new Lease(id.value(), owner, granted.epoch(), granted.until());
    }

    @Override
    public SessionId id() {
      return id;
    }

    @Override
    public Lease lease() {
      return lease;
    }

    private long epoch() {
      return lease.epoch();
    }

    private String named(String what) {
      return what + " " + id + " epoch " + epoch();
    }

    private <T> T held(String what, Supplier<T> statement) {
      if (bugs.contains(Bug.LEASE_BY_NODE_CLOCK) && lease.until().isBefore(time.instant())) {
        store.referee().toldLost(node.name, id, epoch(), store.now());
        throw new KeeperException.LockLost("session " + id, epoch());
      }
      try {
        return link.call(named(what), statement);
      } catch (KeeperException.LockLost e) {
        store.referee().toldLost(node.name, id, epoch(), store.now());
        throw e;
      }
    }

    @Override
    public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
      long until = time.nanoTime() + wait.toNanos();
      while (true) {
        var batch = held("receive", () -> store.tables().receive(id, epoch(), max, store.now()));
        long left = until - time.nanoTime();
        if (!batch.isEmpty() || left <= 0) {
          return batch;
        }
        time.sleep(Duration.ofNanos(Math.min(left, POLL.toNanos())));
      }
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      Supplier<Void> statement = () -> settleNow(settlements, Optional.empty());
      if (!isPipelined) {
        return done(() -> held(text(settlements), statement));
      }
      // One connection: later requests arrive later.
      long arrival = Math.max(lastArrival + 1000, world.now() + link.delay().toNanos());
      lastArrival = arrival;
      return link.send(named(text(settlements)), Duration.ofNanos(arrival - world.now()), statement)
          .answer();
    }

    private String text(List<Settled> settlements) {
      return "settle " + settlements;
    }

    @SuppressWarnings("NullAway") // Executes a statement without a result.
    private Void settleNow(List<Settled> settlements, Optional<SessionState.Write> write) {
      store.tables().settle(id, epoch(), settlements, write, store.now());
      return null;
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
      if (bugs.contains(Bug.STATE_BEFORE_SETTLEMENT)) {
        return done(
            () -> {
              writeState(state);
              held(text(settlements), () -> settleNow(settlements, Optional.empty()));
            });
      }
      return done(
          () ->
              held(
                  text(settlements) + " and state",
                  () -> settleNow(settlements, Optional.of(state))));
    }

    private CompletionStage<Void> done(Runnable call) {
      try {
        call.run();
        return CompletableFuture.completedFuture(null);
      } catch (KeeperException e) {
        return CompletableFuture.failedFuture(e);
      }
    }

    @Override
    public Lease renew() {
      var until = held("renew", () -> store.tables().renew(id, epoch(), store.now()));
      lease = lease.until(until);
      return lease;
    }

    @Override
    public SessionState state() {
      return held("state", () -> store.tables().state(id, epoch(), store.now()));
    }

    @Override
    public SessionState writeState(SessionState.Write write) {
      return held("write state", () -> store.tables().writeState(id, epoch(), write, store.now()));
    }

    @Override
    public void close() {
      try {
        link.call(
            named("close"),
            () -> {
              boolean wasReleased = store.referee().isReleased(id);
              store.tables().close(id, epoch(), store.now());
              if (!wasReleased) {
                store.referee().closedBy(id, epoch());
              }
              return true;
            });
      } catch (KeeperException.OutcomeUnknown | KeeperException.Unavailable e) {
        world.note(node.name, named("close") + ": no answer; the lease runs out");
      }
    }

    @Override
    public String toString() {
      return owner + " holds " + id;
    }
  }
}
