package dev.sessionkeeper.registry.usage;

import static dev.sessionkeeper.registry.TestDatabase.again;
import static dev.sessionkeeper.registry.TestDatabase.someone;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.registry.PutOutcome;
import dev.sessionkeeper.registry.RegisteredSession;
import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.SessionRequest;
import dev.sessionkeeper.registry.TestDatabase;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.testkit.SettableClock;
import java.math.BigDecimal;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the metered amounts, with a clock that the test moves; one test for each known billing
 * mistake.
 */
@Tag("slow")
class MeteringTest {
  private static final Instant NOON = Instant.parse("2026-11-15T12:00:00Z");
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private final TestDatabase db = new TestDatabase();
  private final SettableClock time = SettableClock.create();
  private final List<UsageEvent> events = new ArrayList<>();
  private final SessionRegistry registry =
      SessionRegistry.create(db.source, RegistryOptions.defaults());
  private final Usage usage =
      Usage.create(db.source, UsageOptions.defaults().time(time).listener(events::add));

  @BeforeEach
  void noon() {
    db.setClock(NOON);
  }

  @AfterEach
  void close() {
    db.close();
  }

  /** The whole interval was once billed. */
  @Test
  void aSessionThatBeganASecondAgoIsBilledForASecond() {
    pass(Duration.ofSeconds(59));
    var session = put(someone(1));
    pass(Duration.ofSeconds(1));
    usage.meter(db.now());
    assertThat(billedMicros(session)).isEqualTo(1_000_000);
  }

  /** Only active sessions were once read, so the last part of a session was never billed. */
  @Test
  void aSessionThatEndedBetweenTwoRunsIsBilledToItsEnd() {
    var session = put(someone(1));
    usage.meter(db.now());
    pass(Duration.ofSeconds(17));
    registry.end(session.sessionId());
    pass(Duration.ofHours(5));
    usage.meter(db.now());
    assertThat(billedMicros(session)).isEqualTo(17_000_000);
    assertThat(isClosed(session)).isTrue();
  }

  /** After an outage whole sessions were once never billed. */
  @Test
  void aSessionThatLivedWithinAnOutageIsBilled() {
    var session = put(someone(2));
    pass(Duration.ofHours(1));
    registry.end(session.sessionId());
    pass(Duration.ofDays(3));
    usage.meter(db.now());
    assertThat(billedMicros(session)).isEqualTo(2 * 3_600_000_000L);
  }

  /** The old session's part was once lost, and the dearer session billed for the whole interval. */
  @Test
  void anUpgradeIsBilledAtBothFactorsToTheMicrosecond() {
    var request = someone(1);
    var old = put(request);
    pass(Duration.ofNanos(20_000_001_000L));
    var dear = put(again(request, 3));
    pass(Duration.ofNanos(39_999_999_000L));
    usage.meter(db.now());
    assertThat(billedMicros(old)).isEqualTo(20_000_001);
    assertThat(billedMicros(dear)).isEqualTo(3 * 39_999_999L);
  }

  /** The time of the POST was once never billed, because the last run was stamped after it. */
  @Test
  void aRunThatIsLateBillsToItsSlotAndTheNextOneTheRest() {
    var session = put(someone(1));
    pass(MINUTE);
    var slot = db.now();
    pass(Duration.ofSeconds(25));
    usage.meter(slot);
    assertThat(billedMicros(session)).isEqualTo(60_000_000);
    pass(Duration.ofSeconds(35));
    usage.meter(db.now());
    assertThat(billedMicros(session)).isEqualTo(120_000_000);
    assertTiled();
  }

  /** A session past its end was once billed until the sweep ended it. */
  @Test
  void aSessionPastItsEndIsBilledToItsEndThoughNobodySweptIt() {
    var session = put(someone(1));
    pass(Duration.ofDays(31));
    usage.meter(db.now());
    pass(MINUTE);
    usage.meter(db.now());
    assertThat(billedMicros(session)).isEqualTo(30L * 86_400_000_000L);
    assertThat(units(session)).isEqualByComparingTo("1");
    registry.sweep();
    assertThat(isClosed(session)).isTrue();
  }

  @Test
  void theSameSlotTwiceBillsOnce() {
    put(someone(1));
    pass(MINUTE);
    assertThat(usage.meter(db.now())).isEqualTo(1);
    assertThat(usage.meter(db.now())).isZero();
  }

  @Test
  void aSessionOfNoLengthCostsNothingAndIsClosed() {
    var session = put(someone(1));
    registry.end(session.sessionId());
    assertThat(isClosed(session)).isTrue();
    pass(MINUTE);
    assertThat(usage.meter(db.now())).isZero();
  }

  @Test
  void aClockThatGoesBackBillsNothingTwice() {
    var session = put(someone(1));
    pass(MINUTE);
    usage.meter(db.now());
    db.moveClock(Duration.ofSeconds(-30));
    usage.meter(db.now());
    registry.end(session.sessionId());
    usage.meter(db.now());
    assertThat(billedMicros(session)).isEqualTo(60_000_000);
    assertThat(isClosed(session)).isTrue();
  }

  @Test
  void aClockThatJumpsForwardHoldsMeteringUntilAPersonReleasesIt() {
    var session = put(someone(1));
    usage.watchClock();
    time.advance(Duration.ofSeconds(1));
    db.moveClock(Duration.ofHours(3));
    assertThat(usage.meter(db.now())).isZero();
    assertThat(events).filteredOn(e -> e instanceof UsageEvent.Held).hasSize(1);
    assertThat(usage.hold().orElseThrow().jump()).isGreaterThan(Duration.ofHours(2));
    assertThat(billedMicros(session)).isZero();
    // Another node, which saw no jump, obeys the hold as well.
    var other = Usage.create(db.source, UsageOptions.defaults().time(time));
    assertThat(other.meter(db.now())).isZero();
    assertThat(usage.release(Actor.of("ann"))).isTrue();
    assertThat(usage.meter(db.now())).isEqualTo(1);
    assertThat(db.text("SELECT actor FROM keeper.audit")).isEqualTo("ann");
  }

  @Test
  void timeThatPassedWhileNobodyLookedIsBilledAndNotHeld() {
    var session = put(someone(1));
    pass(Duration.ofHours(3));
    assertThat(Usage.create(db.source, UsageOptions.defaults()).meter(db.now())).isEqualTo(1);
    assertThat(billedMicros(session)).isEqualTo(3 * 3_600_000_000L);
  }

  @Test
  void batchesHaveOneTenantAGaplessNumberAndTheBytesOfTheirDigest() {
    var tenant = UUID.randomUUID();
    for (int i = 0; i < 7; i++) {
      put(new SessionRequest(UUID.randomUUID(), tenant, UUID.randomUUID(), 1));
      put(someone(2));
    }
    for (int tick = 0; tick < 3; tick++) {
      pass(MINUTE);
      usage.meter(db.now());
    }
    var mine = usage.batches(Optional.of(tenant), Optional.empty(), Page.Request.first(10)).items();
    assertThat(mine).extracting(UsageBatch::sequence).containsExactlyInAnyOrder(1L, 2L, 3L);
    assertThat(mine).extracting(UsageBatch::records).containsOnly(7);
    assertThat(mine)
        .extracting(UsageBatch::batchId)
        .contains(FrozenBatch.idOf(tenant, 1), FrozenBatch.idOf(tenant, 3));
    assertKeptBodiesHaveTheirDigests();
    assertExact();
  }

  @Test
  void aCorrectionTakesARowBackAndPutsANewOneInItsPlace() {
    var session = put(someone(3));
    for (int tick = 0; tick < 5; tick++) {
      pass(Duration.ofSeconds(61));
      usage.meter(db.now());
    }
    var before = db.text("SELECT string_agg(l::text, ';' ORDER BY seq) FROM keeper.usage_ledger l");
    var ann = Actor.of("ann");
    var corrected =
        (Correction.Applied)
            usage.correct(session.sessionId(), 2, BigDecimal.ONE, ann, "wrong kind");
    assertThat(corrected.rows())
        .extracting(LedgerRow::type)
        .containsExactly(LedgerRow.Type.REVERSAL, LedgerRow.Type.CORRECTION);
    assertThat(
            db.text(
                "SELECT string_agg(l::text, ';' ORDER BY seq) FROM keeper.usage_ledger l WHERE seq <= 5"))
        .isEqualTo(before);
    pass(Duration.ofSeconds(61));
    usage.meter(db.now());
    // Six intervals, one of them at factor 1.
    assertThat(billedMicros(session)).isEqualTo(61_000_000L * (5 * 3 + 1));
    assertThat(units(session))
        .isEqualByComparingTo(
            Units.of(
                java.math.BigInteger.valueOf(61_000_000L * 16 * 1000),
                Duration.ofDays(30).toNanos() / 1000));
    assertThat(usage.correct(session.sessionId(), 2, BigDecimal.TEN, ann, "again"))
        .isEqualTo(new Correction.AlreadyCorrected());
    assertThat(usage.correct(session.sessionId(), 6, BigDecimal.TEN, ann, "a reversal"))
        .isEqualTo(new Correction.AlreadyCorrected());
    assertThat(usage.correct(session.sessionId(), 99, BigDecimal.TEN, ann, "no such row"))
        .isEqualTo(new Correction.NotFound());
    assertExact();
  }

  @Test
  void theProofFindsWhatSomebodyChangedBehindItsBack() {
    put(someone(1));
    pass(MINUTE);
    usage.meter(db.now());
    assertExact();
    db.execute("UPDATE keeper.usage_ledger SET wmicros = wmicros + 1");
    var proof = usage.proof(Optional.empty()).get(0);
    assertThat(proof.isExact()).isFalse();
    assertThat(proof.ledgerDifference()).isEqualByComparingTo("-0.001");
    assertThat(proof.batchDifference()).isEqualByComparingTo("0.001");
  }

  @Test
  void timeThatIsNotMeteredYetIsActiveAndUnmeteredAndNoDifference() {
    var session = put(someone(2));
    pass(Duration.ofMillis(10_030));
    registry.end(session.sessionId());
    pass(Duration.ofSeconds(5));
    var proof = usage.proof(Optional.empty()).get(0);
    assertThat(proof.active()).isEqualByComparingTo("20060000");
    assertThat(proof.unmetered()).isEqualByComparingTo("20060000");
    assertThat(proof.isExact()).isTrue();
    usage.meter(db.now());
    assertThat(usage.proof(Optional.of(session.tenantObjectId())).get(0).unmetered())
        .isEqualByComparingTo("0");
    assertExact();
  }

  /** Planted: metering missed the end of the session. */
  @Test
  void aLastSliceThatWasLostWithItsWatermarkIsADifference() {
    var session = put(someone(1));
    pass(MINUTE);
    usage.meter(db.now());
    pass(Duration.ofSeconds(17));
    registry.end(session.sessionId());
    pass(MINUTE);
    usage.meter(db.now());
    assertExact();
    db.execute("DELETE FROM keeper.usage_batch WHERE batch_no = 2");
    db.execute("DELETE FROM keeper.usage_ledger WHERE seq = 2");
    db.execute(
        "UPDATE keeper.registered_session SET metered_through = ended_at - interval '17 s',"
            + " metered_wmicros = 60000000000, meter_seq = 1, closed = false");
    pass(Duration.ofMinutes(5));
    var proof = usage.proof(Optional.empty()).get(0);
    assertThat(proof.ledgerDifference()).isEqualByComparingTo("17000000");
    assertThat(proof.isExact()).isFalse();
    assertThat(usage.oldestUnmetered()).isEqualTo(Duration.ofSeconds(17 + 60 + 300));
  }

  @Test
  void whileMeteringIsHeldTimeIsUnmeteredAndNoDifference() {
    put(someone(1));
    usage.meter(db.now());
    db.moveClock(Duration.ofHours(1));
    usage.meter(db.now());
    db.moveClock(Duration.ofHours(2));
    assertThat(usage.hold()).isPresent();
    assertExact();
  }

  @Test
  void aReversalAndACorrectionReachTheReceiverWithTheirTypeAndTheRecordTheyCorrect() {
    var session = put(someone(3));
    pass(MINUTE);
    usage.meter(db.now());
    usage.correct(session.sessionId(), 1, BigDecimal.ONE, Actor.of("ann"), "wrong kind");
    var sent =
        db.database.withConnection(
            connection -> {
              try (var statement = connection.createStatement();
                  var rows =
                      statement.executeQuery(
                          "SELECT packed_body FROM keeper.usage_batch ORDER BY batch_no DESC LIMIT 1")) {
                rows.next();
                return new String(
                    PackedBody.unpack(rows.getBytes(1)), java.nio.charset.StandardCharsets.UTF_8);
              }
            });
    assertThat(sent)
        .contains("\"type\":\"reversal\",\"corrects\":\"" + session.sessionId() + ":1\"")
        .contains("\"type\":\"correction\",\"corrects\":\"" + session.sessionId() + ":1\"");
  }

  /** The clock was a year ahead; sessions that began then would cost nothing for a year. */
  @Test
  void aSessionThatBeganInTheFutureBeginsNowWhenTheClockIsSetBack() {
    db.moveClock(Duration.ofDays(365));
    var session = put(someone(1));
    db.moveClock(Duration.ofDays(-365));
    registry.sweep();
    var moved = registry.find(session.sessionId()).orElseThrow();
    assertThat(moved.startedAt()).isEqualTo(NOON);
    assertThat(Duration.between(moved.startedAt(), moved.endsAt()))
        .isEqualTo(Duration.between(session.startedAt(), session.endsAt()));
    pass(MINUTE);
    usage.meter(db.now());
    assertThat(billedMicros(session)).isEqualTo(60_000_000);
    assertExact();
  }

  @Test
  void theLedgerIsReadInPages() {
    var session = put(someone(1));
    for (int tick = 0; tick < 25; tick++) {
      pass(MINUTE);
      usage.meter(db.now());
    }
    var tenant = Optional.of(session.tenantObjectId());
    var seen = new ArrayList<Integer>();
    Optional<String> cursor = Optional.empty();
    do {
      var page =
          usage.ledger(tenant, Optional.empty(), Optional.empty(), new Page.Request(10, cursor));
      page.items().forEach(row -> seen.add(row.seq()));
      cursor = page.next();
    } while (cursor.isPresent());
    assertThat(seen).hasSize(25).isSorted().doesNotHaveDuplicates();
    assertThat(
            usage
                .ledger(
                    tenant,
                    Optional.of(NOON.plusSeconds(90)),
                    Optional.of(NOON.plusSeconds(180)),
                    Page.Request.first(9))
                .items())
        .extracting(LedgerRow::seq)
        .containsExactly(2, 3);
  }

  private void pass(Duration by) {
    db.moveClock(by);
    time.advance(by);
  }

  private RegisteredSession put(SessionRequest request) {
    return switch (registry.put(request)) {
      case PutOutcome.Created created -> created.session();
      case PutOutcome.Upgraded upgraded -> upgraded.session();
      case PutOutcome.Existing existing -> existing.session();
      case PutOutcome.TenantMismatch tenantMismatch -> throw new AssertionError("tenant mismatch");
    };
  }

  private long billedMicros(RegisteredSession session) {
    return db.number(
        "SELECT coalesce(sum(wmicros), 0)::bigint / 1000 FROM keeper.usage_ledger WHERE session_id = '"
            + session.sessionId()
            + "'");
  }

  private BigDecimal units(RegisteredSession session) {
    return new BigDecimal(
        db.text(
            "SELECT sum(units) FROM keeper.usage_ledger WHERE session_id = '"
                + session.sessionId()
                + "'"));
  }

  private boolean isClosed(RegisteredSession session) {
    return db.text(
            "SELECT closed FROM keeper.registered_session WHERE session_id = '"
                + session.sessionId()
                + "'")
        .equals("t");
  }

  private void assertExact() {
    assertThat(usage.proof(Optional.empty())).isNotEmpty().allMatch(UsageProof::isExact);
  }

  private void assertTiled() {
    assertThat(db.number(Ledgers.GAPS_AND_OVERLAPS)).isZero();
  }

  private void assertKeptBodiesHaveTheirDigests() {
    db.database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows =
                  statement.executeQuery(
                      "SELECT packed_body, body_sha256 FROM keeper.usage_batch")) {
            while (rows.next()) {
              var digest = MessageDigest.getInstance("SHA-256");
              assertThat(digest.digest(PackedBody.unpack(rows.getBytes(1))))
                  .isEqualTo(rows.getBytes(2));
            }
            return true;
          } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
          }
        });
  }
}
