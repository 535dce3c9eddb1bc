package dev.sessionkeeper.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests whole nodes on one database, with short leases. */
@Tag("slow")
class JobsTest {
  private static final Schedule OFTEN = Schedule.every(Duration.ofMillis(100));
  private static final Schedule HOURLY = Schedule.every(Duration.ofHours(1));
  private final TestDatabase db = new TestDatabase();
  private final Events events = new Events();
  private final List<Jobs> nodes = new ArrayList<>();

  @AfterEach
  void close() {
    nodes.forEach(Jobs::close);
  }

  @TestInRealTime
  void everySlotTakesEffectOnceHoweverManyNodesThereAre() {
    db.execute("ALTER TABLE effect ADD UNIQUE (slot)");
    for (int i = 0; i < 4; i++) {
      node().register("tick", OFTEN, JobsTest::effectOfSlot).start();
    }
    await().until(() -> db.number("SELECT count(*) FROM effect") >= 20);
    nodes.forEach(Jobs::close);
    // The unique slot would have refused a second effect; coalesced slots drop no others.
    assertThat(events.of(JobEvent.Failed.class)).isEmpty();
    assertThat(
            db.number(
                """
                SELECT count(*) FROM (
                  SELECT slot - lag(slot) OVER (ORDER BY slot) AS step FROM effect) s
                WHERE extract(epoch FROM step) * 1000 % 100 <> 0
                """))
        .isZero();
  }

  @TestInRealTime
  void aRunMayTakeLongerThanItsLease() {
    var runs = new AtomicInteger();
    var finish = new CountDownLatch(1);
    for (int i = 0; i < 2; i++) {
      node()
          .register(
              "long",
              OFTEN,
              context -> {
                runs.incrementAndGet();
                finish.await();
              })
          .start();
    }
    await().until(() -> runs.get() == 1);
    var start = db.text("SELECT clock_timestamp()");
    await()
        .until(
            () ->
                db.text(
                        "SELECT lease_until > '"
                            + start
                            + "'::timestamptz + interval '2.5 s' FROM keeper.job")
                    .equals("t"));
    assertThat(runs.get()).isEqualTo(1);
    finish.countDown();
    await().until(() -> runs.get() > 1);
    assertThat(events.of(JobEvent.TakenOver.class)).isEmpty();
  }

  /**
   * "No rows changed" once counted as one of three failures, so two owners ran for up to 90
   * seconds.
   */
  @TestInRealTime
  void aRunWhoseLeaseWasTakenIsInterruptedAtTheNextRenewal() {
    var interrupted = new AtomicBoolean();
    var started = new CountDownLatch(1);
    node().register("victim", OFTEN, context -> untilInterrupted(started, interrupted)).start();
    awaitLatch(started);
    db.execute(
        "UPDATE keeper.job SET owner = 'thief', epoch = epoch + 1, lease_millis = 3600000,"
            + " lease_until = keeper.now() +"
            + " interval '1 h'");
    await().until(() -> events.of(JobEvent.Lost.class).size() == 1);
    assertThat(interrupted).isTrue();
    assertThat(db.text("SELECT owner FROM keeper.job")).isEqualTo("thief");
  }

  /** An exception once killed the heartbeat, and the task ran on without a lock. */
  @TestInRealTime
  void aRunWhoseRenewalsFailStopsBeforeItsLeaseEnds() {
    var interrupted = new AtomicBoolean();
    var started = new CountDownLatch(1);
    var broken = new AtomicBoolean();
    var left = new AtomicReference<String>("");
    var jobs = Jobs.create(db.source, breakable(broken), options("unlucky"));
    nodes.add(jobs);
    jobs.register(
        "cut-off",
        OFTEN,
        context -> {
          try {
            untilInterrupted(started, interrupted);
          } finally {
            Thread.interrupted();
            left.set(db.text("SELECT lease_until > keeper.now() FROM keeper.job"));
          }
        });
    jobs.start();
    awaitLatch(started);
    broken.set(true);
    await().until(() -> events.of(JobEvent.Lost.class).size() == 1);
    assertThat(left.get()).isEqualTo("t");
  }

  @TestInRealTime
  void aZombieCannotCommitAndTheRefusalIsCounted() {
    var refused = new AtomicReference<Throwable>();
    var started = new CountDownLatch(1);
    var proceed = new CountDownLatch(1);
    node()
        .register(
            "zombie",
            HOURLY,
            context -> {
              started.countDown();
              // Ignores the interrupt on purpose, as a frozen process would.
              while (proceed.getCount() > 0) {
                Thread.interrupted();
                Thread.onSpinWait();
              }
              try {
                Effect.of(context);
              } catch (KeeperException.LockLost e) {
                refused.set(e);
              }
            })
        .start();
    nodes.get(0).requestRun("zombie");
    awaitLatch(started);
    db.execute(
        "UPDATE keeper.job SET owner = 'next', epoch = epoch + 1, lease_millis = 3600000,"
            + " lease_until = keeper.now() +"
            + " interval '1 h'");
    proceed.countDown();
    await().until(() -> refused.get() != null);
    assertThat(db.number("SELECT count(*) FROM effect")).isZero();
    assertThat(events.of(JobEvent.FenceRejected.class)).isNotEmpty();
  }

  /** There was once no attempt count, no pause and no alert. */
  @TestInRealTime
  void failuresAreCountedPausedAlertedOnceAndForgottenAfterASuccess() {
    var runs = new AtomicInteger();
    node()
        .register(
            "flaky",
            HOURLY,
            context -> {
              if (runs.incrementAndGet() <= 4) {
                throw new IllegalStateException("no luck " + runs.get());
              }
            })
        .start();
    due("flaky");
    await().until(() -> events.of(JobEvent.Completed.class).size() == 1);
    assertThat(events.of(JobEvent.Failed.class))
        .extracting(JobEvent.Failed::attempts)
        .containsExactly(1, 2, 3, 4);
    assertThat(events.of(JobEvent.Alerted.class))
        .extracting(JobEvent.Alerted::attempts)
        .containsExactly(3);
    var view = nodes.get(0).view("flaky").orElseThrow();
    assertThat(view.attempts()).isZero();
    assertThat(view.lastError()).isEmpty();
    assertThat(nodes.get(0).history("flaky", 10))
        .extracting(JobRun::outcome)
        .containsExactly(
            JobRun.Outcome.COMPLETED,
            JobRun.Outcome.FAILED,
            JobRun.Outcome.FAILED,
            JobRun.Outcome.FAILED,
            JobRun.Outcome.FAILED);
  }

  /** Each worker once took one job per poll. */
  @TestInRealTime
  void allDueJobsAreTakenInOneLook() {
    var together = new CountDownLatch(5);
    var jobs = node();
    for (int i = 0; i < 5; i++) {
      jobs.register("many-" + i, OFTEN, context -> together.countDown());
    }
    jobs.start();
    awaitLatch(together);
    assertThat(together.getCount()).isZero();
  }

  @TestInRealTime
  void afterAnOutageOneRunCoversWhatWasMissedOrAllRunOrNone() {
    var jobs = node();
    jobs.register("coalesce", HOURLY, JobsTest::effectOfSlot);
    jobs.register("all", HOURLY.onMisfire(new Misfire.All(3)), JobsTest::effectOfSlot);
    jobs.register("skip", HOURLY.onMisfire(new Misfire.Skip()), JobsTest::effectOfSlot);
    db.execute("UPDATE keeper.job SET next_run_at = next_run_at - interval '10 hours'");
    jobs.start();
    await().until(() -> events.of(JobEvent.Completed.class).size() == 5);
    assertThat(db.number("SELECT count(*) FROM effect WHERE job = 'coalesce'")).isEqualTo(1);
    assertThat(db.number("SELECT count(DISTINCT slot) FROM effect WHERE job = 'all'")).isEqualTo(3);
    assertThat(db.number("SELECT count(*) FROM effect WHERE job = 'skip'")).isEqualTo(1);
    assertThat(events.of(JobEvent.SlotsDropped.class))
        .extracting(JobEvent.SlotsDropped::job, JobEvent.SlotsDropped::count)
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple("all", 7L),
            org.assertj.core.groups.Tuple.tuple("skip", 9L));
    assertThat(db.number("SELECT count(*) FROM keeper.job WHERE next_run_at > keeper.now()"))
        .isEqualTo(3);
  }

  @TestInRealTime
  void aPausedJobRunsOnlyWhenAPersonAsks() {
    var runs = new AtomicInteger();
    var jobs = node();
    jobs.register("calm", OFTEN, context -> runs.incrementAndGet());
    assertThat(jobs.pause("calm", Actor.of("ann"))).isTrue();
    jobs.start();
    assertThat(jobs.requestRun("calm", Actor.of("ann"))).isTrue();
    await().until(() -> events.of(JobEvent.Completed.class).size() == 1);
    assertThat(jobs.view("calm").orElseThrow().paused()).isTrue();
    assertThat(runs.get()).isEqualTo(1);
    jobs.resume("calm", Actor.of("ann"));
    await().until(() -> runs.get() > 1);
    assertThat(
            db.text(
                "SELECT string_agg(action, ' ' ORDER BY id) FROM keeper.audit WHERE actor = 'ann'"))
        .isEqualTo("job.pause job.run job.resume");
    assertThat(jobs.pause("unknown", Actor.of("ann"))).isFalse();
  }

  @TestInRealTime
  void aNodeThatClosesHandsItsRunOver() {
    var started = new CountDownLatch(1);
    var ran = new AtomicInteger();
    var leaving = node();
    leaving.register("relay", HOURLY, context -> untilInterrupted(started, new AtomicBoolean()));
    leaving.start();
    due("relay");
    awaitLatch(started);
    node().register("relay", HOURLY, context -> ran.incrementAndGet()).start();
    long begun = System.nanoTime();
    leaving.close(Duration.ofMillis(100));
    await().until(() -> ran.get() == 1);
    // The point is to stay well under the lease of one second; a busy machine gets some room.
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
    assertThat(events.of(JobEvent.HandedOver.class)).hasSize(1);
    assertThat(events.of(JobEvent.TakenOver.class)).isEmpty();
  }

  @TestInRealTime
  void theClockOfANodeDoesNotMatter() {
    for (var offset : List.of(Duration.ofDays(-1), Duration.ZERO, Duration.ofDays(1))) {
      var jobs = Jobs.create(db.source, db.source, options("off").time(new ShiftedTime(offset)));
      nodes.add(jobs);
      jobs.register("tick", OFTEN, JobsTest::effectOfSlot).start();
    }
    await().until(() -> db.number("SELECT count(*) FROM effect") >= 10);
    nodes.forEach(Jobs::close);
    assertThat(
            db.number(
                "SELECT count(*) FROM effect WHERE abs(extract(epoch FROM clock_timestamp() -"
                    + " slot)) > 60"))
        .isZero();
    assertThat(db.number("SELECT count(*) - count(DISTINCT slot) FROM effect")).isZero();
  }

  @Test
  void aNameThatIsTakenOrNoNameIsRefused() {
    var jobs = node().register("one", HOURLY, context -> {});
    assertThatThrownBy(() -> jobs.register("one", HOURLY, context -> {}))
        .hasMessageContaining("registered already");
    assertThatThrownBy(() -> jobs.register("No Name", HOURLY, context -> {}))
        .hasMessageContaining("was No Name");
  }

  private static void effectOfSlot(JobContext context) {
    context.completeIn(
        connection -> {
          try (var statement =
              connection.prepareStatement("INSERT INTO effect (job, slot) VALUES (?, ?)")) {
            statement.setString(1, context.job());
            statement.setObject(2, context.slot().at().atOffset(java.time.ZoneOffset.UTC));
            statement.executeUpdate();
          }
        });
  }

  @TestInRealTime
  void aRunSaysHowFarItHasComeAndOnlyTheNewestWordIsWritten() {
    var finish = new CountDownLatch(1);
    var jobs = node();
    jobs.register(
            "talks",
            HOURLY,
            context -> {
              for (int i = 1; i <= 10_000; i++) {
                context.report(i + " of 10000");
              }
              finish.await();
            })
        .start();
    jobs.requestRun("talks");
    await()
        .untilAsserted(
            () ->
                assertThat(jobs.history("talks", 1))
                    .first()
                    .satisfies(run -> assertThat(run.progress()).contains("10000 of 10000")));
    assertThat(jobs.history("talks", 1).getFirst().outcome()).isEqualTo(JobRun.Outcome.RUNNING);
    assertThat(db.number("SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'job_run'"))
        .as("coalesced")
        .isLessThan(100);
    finish.countDown();
  }

  @TestInRealTime
  void aRunThatLostItsLeaseReportsIntoItsOwnRowOnly() {
    var started = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    var jobs = node();
    jobs.register(
            "late",
            HOURLY,
            context -> {
              started.countDown();
              awaitUninterrupted(goOn);
              context.report("from the past");
            })
        .start();
    jobs.requestRun("late");
    awaitLatch(started);
    db.execute(
        "UPDATE keeper.job SET owner = 'thief', epoch = epoch + 1, lease_millis = 3600000,"
            + " lease_until = keeper.now() +"
            + " interval '1 h'");
    db.execute(
        "INSERT INTO keeper.job_run (job, epoch, owner, started_at, outcome) VALUES ('late', 2,"
            + " 'thief', keeper.now(), 'running')");
    goOn.countDown();
    await()
        .untilAsserted(
            () ->
                assertThat(jobs.history("late", 2).getLast().progress()).contains("from the past"));
    assertThat(jobs.history("late", 2).getFirst().progress()).isEmpty();
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    boolean waits = true;
    while (waits) {
      try {
        latch.await();
        waits = false;
      } catch (InterruptedException e) {
        // Continues, as code does that swallows the exception.
        waits = true;
      }
    }
  }

  private static void untilInterrupted(CountDownLatch started, AtomicBoolean interrupted)
      throws InterruptedException {
    started.countDown();
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      interrupted.set(true);
      throw e;
    }
  }

  private void due(String job) {
    db.execute(
        "UPDATE keeper.job SET next_run_at = next_run_at - interval '1 hour' WHERE name = '"
            + job
            + "'");
  }

  private Jobs node() {
    var jobs = Jobs.create(db.source, db.source, options("node" + nodes.size()));
    nodes.add(jobs);
    return jobs;
  }

  private JobOptions options(String owner) {
    return JobOptions.defaults()
        .owner(Owner.unique(owner))
        .lease(Duration.ofSeconds(1))
        .poll(Duration.ofMillis(50))
        .retry(new RetryPolicy(9, Duration.ofMillis(20), 1, Duration.ofMillis(20), 0))
        .listener(events);
  }

  /** A source whose connections fail every statement once it is broken. */
  private DataSource breakable(AtomicBoolean broken) {
    return (DataSource)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, args) -> fragile(db.source.getConnection(), broken));
  }

  private Connection fragile(Connection real, AtomicBoolean broken) {
    return (Connection)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, args) -> {
              if (broken.get() && method.getName().equals("prepareStatement")) {
                throw new SQLException("cut", "08006");
              }
              return method.invoke(real, args);
            });
  }

  private static void awaitLatch(CountDownLatch latch) {
    await().until(() -> latch.getCount() == 0);
  }
}
