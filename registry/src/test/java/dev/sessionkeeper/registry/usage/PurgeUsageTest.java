package dev.sessionkeeper.registry.usage;

import static dev.sessionkeeper.registry.TestDatabase.someone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.sessionkeeper.registry.PutOutcome;
import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.TestDatabase;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.testkit.SettableClock;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests which data of usage that was delivered long ago is deleted, which sums stay, and what is
 * never deleted.
 */
@Tag("slow")
class PurgeUsageTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration AGE = Duration.ofDays(7);
  private final TestDatabase db = new TestDatabase();
  private final SettableClock time = SettableClock.create();
  private final SessionRegistry registry =
      SessionRegistry.create(db.source, RegistryOptions.defaults());
  private final Usage usage = Usage.create(db.source, UsageOptions.defaults().time(time));

  @BeforeEach
  void noon() {
    db.setClock(Instant.parse("2026-11-15T12:00:00Z"));
  }

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void whatWasDeliveredGoesAfterItsTimeAndTheProofStillAddsUp() {
    var session = begin();
    begin();
    meterFor(HOUR);
    assertThat(usage.correct(session, 1, BigDecimal.TEN, Actor.of("ann"), "wrong kind"))
        .isInstanceOf(Correction.Applied.class);
    settle("acknowledged");
    meterFor(AGE);
    assertThat(forget()).as("not yet too old").isZero();
    settle("acknowledged");
    meterFor(HOUR);
    long whole = sums();
    assertThat(forget()).isEqualTo(3);
    assertThat(db.number("SELECT count(*) FROM keeper.usage_ledger")).isEqualTo(4);
    assertThat(usage.proof(Optional.empty())).hasSize(2).allMatch(UsageProof::isExact);
    assertThat(usage.proof(Optional.empty())).allMatch(p -> p.forgotten().signum() > 0);
    assertThat(sums() + db.number("SELECT sum(wmicros) FROM keeper.usage_forgotten"))
        .isEqualTo(whole);
    assertThat(forget()).isZero();
    assertThat(usage.correct(session, 1, BigDecimal.ONE, Actor.of("ann"), "too late"))
        .isEqualTo(new Correction.NotFound());
  }

  @Test
  void whatWaitsOrWasRefusedStaysHoweverOldItIs() {
    begin();
    meterFor(HOUR);
    settle("dead");
    meterFor(HOUR);
    meterFor(AGE.multipliedBy(3));
    assertThat(forget()).isZero();
    assertThat(db.number("SELECT count(*) FROM keeper.usage_ledger")).isEqualTo(3);
  }

  @Test
  void whatDoesNotAddUpIsKeptAndSaysSo() {
    begin();
    meterFor(HOUR);
    settle("acknowledged");
    db.execute("UPDATE keeper.usage_ledger SET wmicros = wmicros - 1");
    meterFor(AGE.multipliedBy(2));
    assertThatIllegalStateException().isThrownBy(this::forget).withMessageContaining("add up");
    assertThat(db.number("SELECT count(*) FROM keeper.usage_batch")).isEqualTo(2);
    assertThat(db.number("SELECT count(*) FROM keeper.usage_forgotten")).isZero();
  }

  @Test
  void manyBatchesGoInSteps() {
    int tenants = 2 * PurgeUsage.AT_ONCE + 17;
    for (int i = 0; i < tenants; i++) {
      begin();
    }
    meterFor(HOUR);
    settle("acknowledged");
    db.moveClock(AGE.plus(HOUR));
    time.advance(AGE.plus(HOUR));
    assertThat(forget()).isEqualTo(tenants);
    assertThat(db.number("SELECT count(*) FROM keeper.usage_ledger")).isZero();
    usage.meter(db.now());
    assertThat(usage.proof(Optional.empty())).hasSize(tenants).allMatch(UsageProof::isExact);
  }

  private UUID begin() {
    return ((PutOutcome.Created) registry.put(someone(1))).session().sessionId();
  }

  private void meterFor(Duration span) {
    db.moveClock(span);
    time.advance(span);
    usage.meter(db.now());
  }

  private void settle(String state) {
    db.execute(
        "UPDATE keeper.usage_batch SET settled_at = keeper.now(), state = '%s' WHERE state = 'pending'"
            .formatted(state));
  }

  private long sums() {
    return db.number("SELECT sum(wmicros) FROM keeper.usage_ledger");
  }

  private int forget() {
    return usage.forget(AGE, db.database::inTransaction, () -> true);
  }
}
