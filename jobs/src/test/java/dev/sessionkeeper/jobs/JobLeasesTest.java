package dev.sessionkeeper.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Owner;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the statements of the lease one by one, with two owners. */
@Tag("slow")
class JobLeasesTest {
  private static final Schedule HOURLY = Schedule.every(Duration.ofHours(1));
  private final TestDatabase db = new TestDatabase();
  private final JobLeases first = leases("first");
  private final JobLeases second = leases("second");

  @BeforeEach
  void aDueJob() {
    first.register("job", HOURLY);
    db.execute("UPDATE keeper.job SET next_run_at = date_trunc('hour', keeper.now())");
  }

  /** The job was once read before the lock, so the claim time was NULL and no run completed. */
  @Test
  void theClaimBringsTheRowSoThatTheRunCanComplete() {
    var claim = first.acquire("job", HOURLY).orElseThrow();
    assertThat(claim.lease().epoch()).isEqualTo(1);
    assertThat(claim.slot().manual()).isFalse();
    complete(first, claim);
    assertThat(db.text("SELECT next_run_at = last_slot + interval '1 hour' FROM keeper.job"))
        .isEqualTo("t");
    assertThat(db.text("SELECT owner IS NULL FROM keeper.job")).isEqualTo("t");
  }

  @Test
  void aJobThatIsHeldIsNotGivenToAnother() {
    assertThat(first.acquire("job", HOURLY)).isPresent();
    assertThat(second.acquire("job", HOURLY)).isEmpty();
  }

  @Test
  void aLeaseThatRanOutIsTakenOverAndItsRunIsAbandoned() {
    var old = first.acquire("job", HOURLY).orElseThrow();
    expire();
    var taken = second.acquire("job", HOURLY).orElseThrow();
    assertThat(taken.lease().epoch()).isEqualTo(old.lease().epoch() + 1);
    assertThat(taken.formerOwner()).contains("first");
    assertThat(taken.attempts()).isEqualTo(1);
    assertThat(db.text("SELECT outcome FROM keeper.job_run WHERE epoch = 1"))
        .isEqualTo("abandoned");
  }

  /** A late worker once overwrote the new owner's lock and schedule. */
  @Test
  void aLateOwnerCanNeitherCompleteNorFailNorReleaseNorRenew() {
    var late = first.acquire("job", HOURLY).orElseThrow();
    expire();
    assertThat(second.acquire("job", HOURLY)).isPresent();
    var before = row();
    assertThat(first.fail(late.lease(), "late", Duration.ofHours(9))).isFalse();
    assertThat(first.release(late.lease())).isFalse();
    assertThat(completes(first, late)).isFalse();
    assertThat(renews(first, late)).isFalse();
    assertThat(fences(first, late)).isFalse();
    assertThat(row()).isEqualTo(before);
  }

  /** A restarted process with the same name is still another owner. */
  @Test
  void theEpochTellsTwoRunsOfOneOwnerApart() {
    var late = first.acquire("job", HOURLY).orElseThrow();
    expire();
    assertThat(first.acquire("job", HOURLY)).isPresent();
    assertThat(completes(first, late)).isFalse();
    assertThat(renews(first, late)).isFalse();
  }

  /** The heartbeat once overwrote the start that the schedule needs. */
  @Test
  void renewalsMoveTheEndOfTheLeaseAndNothingElse() {
    var claim = first.acquire("job", HOURLY).orElseThrow();
    var before = db.text("SELECT (started_at, next_run_at)::text FROM keeper.job");
    var until = db.text("SELECT lease_until FROM keeper.job");
    assertThat(renews(first, claim)).isTrue();
    assertThat(db.text("SELECT (started_at, next_run_at)::text FROM keeper.job")).isEqualTo(before);
    assertThat(db.text("SELECT lease_until FROM keeper.job")).isGreaterThan(until);
  }

  @Test
  void aLeaseThatRanOutCannotBeRenewedEvenIfNobodyTookIt() {
    var claim = first.acquire("job", HOURLY).orElseThrow();
    expire();
    assertThat(renews(first, claim)).isFalse();
  }

  @Test
  void aTakeOverWaitsForFencedWorkAndARenewalDoesNot() throws Exception {
    var claim = first.acquire("job", HOURLY).orElseThrow();
    var fenced = new CountDownLatch(1);
    var commit = new CountDownLatch(1);
    var work =
        CompletableFuture.runAsync(
            () ->
                db.database.doInTransaction(
                    connection -> {
                      assertThat(first.fence(connection, claim.lease())).isTrue();
                      fenced.countDown();
                      awaitLatch(commit);
                    }));
    fenced.await();
    assertThat(renews(first, claim)).isTrue();
    expire();
    assertThat(second.acquire("job", HOURLY)).isEmpty();
    commit.countDown();
    work.join();
    assertThat(second.acquire("job", HOURLY)).isPresent();
  }

  @Test
  void aFailureKeepsTheGridAndWaits() {
    var claim = first.acquire("job", HOURLY).orElseThrow();
    var grid = db.text("SELECT next_run_at FROM keeper.job");
    assertThat(first.fail(claim.lease(), "boom", Duration.ofMillis(300))).isTrue();
    assertThat(second.acquire("job", HOURLY)).isEmpty();
    assertThat(db.text("SELECT next_run_at FROM keeper.job")).isEqualTo(grid);
    var again = await().until(() -> second.acquire("job", HOURLY), c -> c.isPresent());
    assertThat(again.orElseThrow().attempts()).isEqualTo(1);
  }

  @Test
  void aClockThatGoesBackMakesLeasesLongerAndNeverShorter() {
    var claim = first.acquire("job", HOURLY).orElseThrow();
    moveClock("-interval '10 minutes'");
    assertThat(second.acquire("job", HOURLY)).isEmpty();
    assertThat(fences(first, claim)).isTrue();
  }

  @Test
  void aClockThatJumpsForwardCausesATakeOverThatIsFenced() {
    var claim = first.acquire("job", HOURLY).orElseThrow();
    moveClock("+interval '10 minutes'");
    assertThat(second.acquire("job", HOURLY)).isPresent();
    assertThat(fences(first, claim)).isFalse();
  }

  @Test
  void onlyTheNewestRunsAreKept() {
    var short3 = leases("short", 3);
    for (int i = 0; i < 6; i++) {
      db.execute("UPDATE keeper.job SET next_run_at = keeper.now() - interval '1 minute'");
      complete(short3, short3.acquire("job", HOURLY).orElseThrow());
    }
    assertThat(db.number("SELECT count(*) FROM keeper.job_run")).isEqualTo(3);
    assertThat(db.number("SELECT max(epoch) FROM keeper.job_run")).isEqualTo(6);
  }

  @Test
  void anotherIntervalMovesTheJobToTheNewGridAndTheSameOneChangesNothing() {
    var before = row();
    second.register("job", HOURLY);
    assertThat(row()).isEqualTo(before);
    second.register("job", Schedule.every(Duration.ofSeconds(7)));
    assertThat(db.number("SELECT extract(epoch FROM next_run_at)::bigint % 7 FROM keeper.job"))
        .isZero();
  }

  private void moveClock(String by) {
    db.execute(
        "CREATE OR REPLACE FUNCTION keeper.now() RETURNS timestamptz LANGUAGE sql VOLATILE AS"
            + " $$ SELECT clock_timestamp() "
            + by
            + " $$");
  }

  private void expire() {
    db.execute("UPDATE keeper.job SET lease_until = keeper.now() - interval '1 second'");
  }

  private String row() {
    return db.text("SELECT job::text FROM keeper.job");
  }

  private void complete(JobLeases leases, Claim claim) {
    assertThat(completes(leases, claim)).isTrue();
  }

  private boolean completes(JobLeases leases, Claim claim) {
    return db.database.inTransaction(
        c -> leases.complete(c, claim.lease(), claim.slot(), HOURLY.next(claim.slot())));
  }

  private boolean renews(JobLeases leases, Claim claim) {
    return db.database.withConnection(c -> leases.renew(c, claim.lease()));
  }

  private boolean fences(JobLeases leases, Claim claim) {
    return db.database.inTransaction(c -> leases.fence(c, claim.lease()));
  }

  private JobLeases leases(String owner) {
    return leases(owner, 100);
  }

  private JobLeases leases(String owner, int kept) {
    var options = JobOptions.defaults().owner(Owner.of(owner)).historyKept(kept);
    return new JobLeases(db.database, options);
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
