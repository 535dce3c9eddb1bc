package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
class CarriedSessionsLincheckTest {

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

  /** Rounds add and choose what is written down; handlers take and give back. */
  @Param(name = "number", gen = IntGen.class, conf = "1:3")
  public static class OwnerOfBuckets {
    private static final Setup SETUP = setup();
    private static final Owner OWNER = Owner.of("o");

    /** Sessions that are held from the beginning, each with one message. */
    private final List<HeldLane> held = new ArrayList<>();

    private final List<ClaimedLane.Found> messages = new ArrayList<>();
    private final SettableClock clock = SettableClock.create();
    private final Reading reading =
        new Reading(
            new ReaderTable.Begun(1, Buckets.ALL, "", Duration.ofHours(1)), clock.nanoTime());
    private final CarriedSessions sessions;
    private long sequence;

    public OwnerOfBuckets() {
      var setup =
          new Setup(
              SETUP.connections(),
              SETUP.node(),
              clock,
              SETUP.options(),
              SETUP.notifications(),
              SETUP.memory(),
              SETUP.log());
      var queue =
          new OrderedQueue(
              new QueueTable.Known(1, QueueName.of("q"), QueueMode.ORDERED),
              setup,
              new PartsOfReaders(1, setup.connections(), clock));
      sessions = new CarriedSessions(queue);
      sessions.begin();
      for (int i = 1; i <= 3; i++) {
        messages.add(read("h" + i));
        held.add(Objects.requireNonNull(sessions.take(OWNER, reading)));
      }
    }

    private static Setup setup() {
      DataSource nowhere = new PGSimpleDataSource();
      var connections = Connections.over(nowhere, 1);
      var node = Node.unique();
      return new Setup(
          connections,
          node,
          SettableClock.create(),
          PostgresOptions.ofDefaults(),
          new Notifications(Notices.over(nowhere, nowhere), node, new Silence()),
          new BodyMemory(1 << 20),
          LoggerFactory.getLogger(CarriedSessionsLincheckTest.class));
    }

    /** A round reads a message. */
    private ClaimedLane.Found read(String session) {
      var id = SessionId.of(session);
      var found =
          new ClaimedLane.Found(
              new Delivery(Message.of(id, Payload.empty()), ++sequence, 1, Instant.EPOCH),
              false,
              Optional.empty(),
              Instant.MAX);
      var news = new ReaderTable.News(reading);
      var fresh = new ReaderTable.Fresh();
      fresh.found.add(found);
      news.messages.put(id, fresh);
      news.epochs = sequence * 10_000;
      sessions.add(news);
      return found;
    }

    @Operation(nonParallelGroup = "rounds")
    public void add(@Param(name = "number") int number) {
      read("s" + number);
    }

    @Operation(nonParallelGroup = "rounds")
    public String give() {
      return sessions.give(1).toString();
    }

    @Operation(nonParallelGroup = "rounds")
    public int writeDown() {
      var chosen = sessions.toWrite(false, Long.MIN_VALUE / 2);
      sessions.written(chosen, Map.of());
      return chosen.size();
    }

    @Operation
    public String take() {
      var taken = sessions.take(OWNER, reading);
      return taken == null ? "nothing" : taken.id().value();
    }

    /** Gives back a session whose message nobody received. The second time it changes nothing. */
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

  /** Nobody says anything to this process. */
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

  /** The same line, without the lock. */
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
