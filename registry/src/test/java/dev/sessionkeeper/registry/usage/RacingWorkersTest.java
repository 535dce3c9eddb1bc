package dev.sessionkeeper.registry.usage;

import static dev.sessionkeeper.registry.TestDatabase.again;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.registry.PutOutcome;
import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.SessionRequest;
import dev.sessionkeeper.registry.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two metering workers without a lease, against callers that begin, upgrade and end sessions. */
@Tag("slow")
class RacingWorkersTest {
  private static final int CALLERS = 6;
  private static final int TURNS = 150;

  @Test
  void twoWorkersWithoutALeaseStayExact() throws Exception {
    try (var db = new TestDatabase();
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var registry = SessionRegistry.create(db.source, RegistryOptions.defaults());
      var usage = Usage.create(db.source, UsageOptions.defaults());
      var done = new AtomicBoolean();
      var workers = new ArrayList<Callable<Integer>>();
      for (int i = 0; i < 2; i++) {
        workers.add(() -> meterUntil(done, db, usage));
      }
      var running = workers.stream().map(threads::submit).toList();
      var callers = new ArrayList<Callable<Integer>>();
      for (int i = 0; i < CALLERS; i++) {
        int seed = i;
        callers.add(() -> call(registry, new Random(seed)));
      }
      for (var caller : threads.invokeAll(callers)) {
        caller.get();
      }
      done.set(true);
      for (var worker : running) {
        assertThat(worker.get()).isPositive();
      }
      usage.meter(db.now());
      for (var zero :
          List.of(
              Ledgers.GAPS_AND_OVERLAPS,
              Ledgers.NOT_THE_INTEGRAL,
              Ledgers.NOT_TELESCOPED,
              Ledgers.ENDED_BUT_NOT_BILLED,
              Ledgers.GAPS_IN_NUMBERS)) {
        assertThat(db.number(zero)).as(zero).isZero();
      }
      assertThat(usage.proof(Optional.empty())).isNotEmpty().allMatch(UsageProof::isExact);
    }
  }

  private static int meterUntil(AtomicBoolean done, TestDatabase db, Usage usage) {
    int rows = 0;
    while (!done.get()) {
      rows += usage.meter(db.now());
    }
    return rows;
  }

  private static int call(SessionRegistry registry, Random random) {
    var tenants = List.of(new UUID(1, 1), new UUID(2, 2), new UUID(3, 3));
    var keys = new ArrayList<SessionRequest>();
    for (int i = 0; i < 10; i++) {
      keys.add(new SessionRequest(UUID.randomUUID(), tenants.get(i % 3), UUID.randomUUID(), 1));
    }
    for (int turn = 0; turn < TURNS; turn++) {
      var request = again(keys.get(random.nextInt(keys.size())), 1 + random.nextInt(3));
      if (registry.put(request) instanceof PutOutcome.Existing found && random.nextInt(3) == 0) {
        registry.end(found.session().sessionId());
      }
    }
    return TURNS;
  }
}
