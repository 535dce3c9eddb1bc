package dev.sessionkeeper.postgres.read;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.Buckets;
import dev.sessionkeeper.postgres.batch.OpenBatches;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.postgres.lease.Hold;
import dev.sessionkeeper.postgres.lease.HoldParts;
import dev.sessionkeeper.postgres.lease.OwnedSessions;
import dev.sessionkeeper.postgres.lease.RenewLeases;
import dev.sessionkeeper.postgres.lease.SessionCache;
import dev.sessionkeeper.postgres.lease.SessionCalls;
import dev.sessionkeeper.postgres.lease.StateTable;
import dev.sessionkeeper.postgres.poll.ChangeSignal;
import dev.sessionkeeper.postgres.poll.EarliestTimer;
import dev.sessionkeeper.postgres.poll.LastPoll;
import dev.sessionkeeper.postgres.poll.PollRequests;
import dev.sessionkeeper.postgres.poll.Polling;
import dev.sessionkeeper.postgres.poll.WaitingReceivers;
import dev.sessionkeeper.postgres.prefetch.FetchMessages;
import dev.sessionkeeper.postgres.prefetch.PrefetchBudget;
import dev.sessionkeeper.postgres.prefetch.PrefetchRoom;
import dev.sessionkeeper.postgres.queue.KnownQueue;
import dev.sessionkeeper.postgres.queue.Node;
import dev.sessionkeeper.postgres.queue.Notifications;
import dev.sessionkeeper.postgres.queue.ProviderContext;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.postgres.row.ReadSummary;
import dev.sessionkeeper.postgres.settle.SettleSessions;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.LoggerFactory;

/**
 * The memory of a process that owns buckets: concurrent calls have the same results as some
 * sequence of these calls. No database is involved.
 */
class CachedSessionsLincheckTest {

  @Test
  void theMemoryOfAnOwnerIsLinearizable() {
    options().check(OwnerOfBuckets.class);
  }

  @Test
  void aLineWithoutALockIsFoundOut() {
    assertThatThrownBy(() -> options().check(LineWithoutLock.class))
        .isInstanceOf(LincheckAssertionError.class);
  }

  private static StressOptions options() {
    return new StressOptions()
        .iterations(8)
        .invocationsPerIteration(150)
        .minimizeFailedScenario(false)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(2)
        .actorsAfter(1);
  }

  /** Polls add messages and choose sessions that get rows; handlers take and give back. */
  @Param(name = "number", gen = IntGen.class, conf = "1:3")
  public static class OwnerOfBuckets {
    private static final ProviderContext NOWHERE = nowhere();
    private static final Owner OWNER = Owner.of("o");

    /** Sessions that are held from the beginning, each with one message. */
    private final List<Hold> held = new ArrayList<>();

    private final List<FoundMessage> messages = new ArrayList<>();
    private final SettableClock clock = SettableClock.create();
    private final ReaderLease reading =
        new ReaderLease(
            new BucketAssignment(1, Buckets.ALL, "", Duration.ofHours(1)), clock.nanoTime());
    private final CachedSessions sessions;
    private long sequence;

    public OwnerOfBuckets() {
      var queue =
          new QueueContext(
              new KnownQueue(1, QueueName.of("q"), QueueMode.ORDERED),
              new ProviderContext(
                  NOWHERE.connections(),
                  NOWHERE.node(),
                  clock,
                  NOWHERE.notifications(),
                  NOWHERE.log()));
      var polls = new NoPolls();
      var changes = new ChangeSignal();
      var polling =
          new Polling(
              polls,
              new EarliestTimer(clock, () -> {}),
              new LastPoll(clock),
              changes,
              new WaitingReceivers(() -> {}));
      var owned = new OwnedSessions(queue, changes, () -> {});
      var room = new PrefetchRoom(new PrefetchBudget(1 << 20).share(() -> {}), 16);
      var calls =
          new SessionCalls(
              new SettleSessions(queue, () -> false, () -> false, waiting -> false),
              new RenewLeases(queue),
              new FetchMessages(queue, room, waiting -> false),
              new StateTable(queue));
      sessions =
          new CachedSessions(
              new HoldParts(queue, calls, polling, room, owned), owned, new NoReader());
      sessions.begin();
      for (int i = 1; i <= 3; i++) {
        messages.add(read("h" + i));
        held.add(sessions.take(OWNER, reading).hold());
      }
    }

    private static ProviderContext nowhere() {
      DataSource nowhere = new PGSimpleDataSource();
      var node = Node.unique();
      return new ProviderContext(
          Connections.over(nowhere, 1),
          node,
          SettableClock.create(),
          new Notifications(Notices.over(nowhere, nowhere), node, new Silence()),
          LoggerFactory.getLogger(CachedSessionsLincheckTest.class));
    }

    /** A poll reads a message. */
    private FoundMessage read(String session) {
      var id = SessionId.of(session);
      var found =
          new FoundMessage(
              new Delivery(Message.of(id, Payload.empty()), ++sequence, 1, Instant.EPOCH),
              false,
              Optional.empty(),
              Instant.MAX);
      var news = new ReadResult(Buckets.ALL);
      var fresh = new FreshMessages();
      fresh.add(found);
      news.messages.put(id, fresh);
      news.summary =
          new ReadSummary(Instant.EPOCH, sequence * 10_000, sequence, false, Long.MAX_VALUE);
      sessions.add(news);
      return found;
    }

    @Operation(nonParallelGroup = "polls")
    public void add(@Param(name = "number") int number) {
      read("s" + number);
    }

    @Operation(nonParallelGroup = "polls")
    public String give() {
      return sessions.give(1).toString();
    }

    @Operation(nonParallelGroup = "polls")
    public int persist() {
      var chosen = sessions.toPersist(false, Long.MIN_VALUE / 2);
      sessions.written(chosen, Map.of());
      return chosen.size();
    }

    @Operation
    public String take() {
      var taken = sessions.take(OWNER, reading);
      return taken == null ? "nothing" : taken.id().value();
    }

    /**
     * Gives back a session whose message was not received. The second time this changes nothing.
     */
    @Operation
    public boolean release(@Param(name = "number") int number) {
      return sessions.release(held.get(number - 1), List.of(messages.get(number - 1)), true);
    }

    @Operation
    public int ready() {
      return sessions.ready();
    }

    @Operation
    public int waiting() {
      return sessions.waiting();
    }
  }

  /** Receives no notifications. */
  private static final class Silence implements Notifications.Heard {
    @Override
    public void wake(int queue) {}

    @Override
    public void news(int queue, SessionId session) {}

    @Override
    public void deleted(int queue) {}

    @Override
    public void asked(int queue) {}

    @Override
    public void everything() {}
  }

  /** Polls nothing. */
  private static final class NoPolls implements PollRequests {
    @Override
    public void ask() {}

    @Override
    public void wake() {}

    @Override
    public CompletableFuture<Void> join() {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public boolean isAnybodyWaiting() {
      return false;
    }

    @Override
    public void serveCached() {}

    @Override
    public void makeDueWithin(Duration delay) {}

    @Override
    public void makeDueNow() {}
  }

  /** The reader of the cache; the operations call the cache themselves. */
  private static final class NoReader implements SessionCache {
    private final OpenBatches batches = new OpenBatches();

    @Override
    public OptionalLong epoch() {
      return OptionalLong.of(1);
    }

    @Override
    public OpenBatches batches() {
      return batches;
    }

    @Override
    public void awaitPersisting(SessionId session) {}

    @Override
    public void persist(Hold hold) {}

    @Override
    public boolean release(Hold hold, List<FoundMessage> leftover, boolean isClean) {
      return true;
    }

    @Override
    public boolean isSafe(long now) {
      return true;
    }

    @Override
    public Instant momentAt(long now) {
      return Instant.EPOCH;
    }
  }

  /** The same sequence of sessions, without the lock. */
  @Param(name = "number", gen = IntGen.class, conf = "1:3")
  public static class LineWithoutLock {
    private final ArrayDeque<Integer> line = new ArrayDeque<>();

    @Operation
    public void add(@Param(name = "number") int number) {
      line.addLast(number);
    }

    @Operation
    public int take() {
      return line.isEmpty() ? 0 : line.removeFirst();
    }
  }
}
