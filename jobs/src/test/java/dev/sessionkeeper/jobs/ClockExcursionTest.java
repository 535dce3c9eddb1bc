package dev.sessionkeeper.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/**
 * The database's clock is wrong for a while and is then corrected: the schedules of jobs are
 * repaired.
 */
@Tag("slow")
class ClockExcursionTest {
  private static final Schedule EVERY_SECOND = Schedule.every(Duration.ofSeconds(1));
  private static final Schedule HOURLY = Schedule.every(Duration.ofHours(1));
  private final TestDatabase db = new TestDatabase();
  private final Events events = new Events();
  private final List<Jobs> nodes = new ArrayList<>();
  private final AtomicInteger runs = new AtomicInteger();

  @AfterEach
  void close() {
    nodes.forEach(Jobs::close);
  }

  @TestInRealTime
  void aJobRunsAgainWithinAnIntervalAfterTheClockWasAYearAhead() {
    node().register("tick", EVERY_SECOND, context -> runs.incrementAndGet()).start();
    awaitRuns(1);
    clock("+ interval '1 year'");
    await().until(() -> isTrue("last_slot > clock_timestamp() + interval '300 days'"));
    clock("");
    awaitRuns(2);
    await().until(() -> isTrue("last_slot < clock_timestamp()"));
    assertThat(isTrue("next_run_at <= clock_timestamp() + interval '2 s'")).isTrue();
    assertThat(isTrue("extract(epoch FROM next_run_at) % 1 = 0")).as("on its grid").isTrue();
    assertThat(isTrue("last_success_at <= clock_timestamp()")).isTrue();
    assertThat(events.of(JobEvent.ClockCorrected.class)).isNotEmpty();
  }

  @TestInRealTime
  void aNodeThatStartsAfterTheExcursionFollowsTheClockToo() {
    var first = node();
    first.register("tick", EVERY_SECOND, context -> runs.incrementAndGet()).start();
    clock("+ interval '1 hour'");
    await().until(() -> isTrue("last_slot > clock_timestamp() + interval '50 min'"));
    first.close();
    clock("");
    runs.set(0);
    node().register("tick", EVERY_SECOND, context -> runs.incrementAndGet()).start();
    awaitRuns(2);
  }

  @TestInRealTime
  void aLeaseTakenInTheFutureDoesNotOutliveItsOwnerByTheExcursion() {
    var leases = new JobLeases(db.database, options("dead"));
    leases.register("tick", EVERY_SECOND);
    clock("+ interval '1 hour'");
    assertThat(leases.acquire("tick", EVERY_SECOND)).isPresent();
    clock("");
    node().register("tick", EVERY_SECOND, context -> runs.incrementAndGet()).start();
    awaitRuns(1);
    assertThat(events.of(JobEvent.TakenOver.class)).hasSize(1);
  }

  @TestInRealTime
  void aPauseAfterAFailureInTheFutureDoesNotOutlastTheLongestPause() {
    var leases = new JobLeases(db.database, options("failing"));
    leases.register("tick", EVERY_SECOND);
    clock("+ interval '1 hour'");
    var claim = leases.acquire("tick", EVERY_SECOND).orElseThrow();
    assertThat(leases.fail(claim.lease(), "in the future", Duration.ofMillis(20))).isTrue();
    clock("");
    node().register("tick", EVERY_SECOND, context -> runs.incrementAndGet()).start();
    awaitRuns(1);
  }

  @TestInRealTime
  void aJobThatWasRequestedInTheFutureRunsOnce() {
    var jobs = node();
    jobs.register("seldom", HOURLY, context -> runs.incrementAndGet());
    jobs.register("tick", EVERY_SECOND, context -> {});
    clock("+ interval '25 min'");
    jobs.requestRun("seldom");
    clock("");
    jobs.start();
    awaitRuns(1);
    long ticks = events.of(JobEvent.Completed.class).size();
    await().until(() -> events.of(JobEvent.Completed.class).size() >= ticks + 3);
    assertThat(runs).hasValue(1);
  }

  @TestInRealTime
  void aJobGoesOnWhileTheClockIsAnHourBehindAndAfterwards() {
    node().register("tick", EVERY_SECOND, context -> runs.incrementAndGet()).start();
    awaitRuns(1);
    clock("- interval '1 hour'");
    await().until(() -> isTrue("last_slot < clock_timestamp() - interval '50 min'"));
    clock("");
    await().until(() -> isTrue("last_slot > clock_timestamp() - interval '10 s'"));
  }

  @TestInRealTime
  void aSmallStepBackRunsNoSlotTwice() {
    db.execute("ALTER TABLE effect ADD UNIQUE (slot)");
    node().register("tick", EVERY_SECOND, this::effectOfSlot).start();
    awaitRuns(1);
    clock("- interval '300 ms'");
    awaitRuns(3);
    assertThat(events.of(JobEvent.Failed.class)).isEmpty();
    assertThat(events.of(JobEvent.ClockCorrected.class)).isEmpty();
  }

  private void effectOfSlot(JobContext context) {
    context.inFencedTransaction(
        connection -> {
          try (var statement =
              connection.prepareStatement("INSERT INTO effect (slot) VALUES (?::timestamptz)")) {
            statement.setString(1, context.slot().at().toString());
            return statement.executeUpdate();
          }
        });
    runs.incrementAndGet();
  }

  /** Waits for so many further runs. */
  private void awaitRuns(int more) {
    int before = runs.get();
    await().until(() -> runs.get() >= before + more);
  }

  private void clock(String shift) {
    db.execute(
        "CREATE OR REPLACE FUNCTION keeper.now() RETURNS timestamptz LANGUAGE sql VOLATILE AS"
            + " $$ SELECT clock_timestamp() "
            + shift
            + " $$");
  }

  private boolean isTrue(String condition) {
    return db.text("SELECT " + condition + " FROM keeper.job WHERE name = 'tick'").equals("t");
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
}
