package dev.sessionkeeper.registry.usage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.registry.PutOutcome;
import dev.sessionkeeper.registry.RegisteredSession;
import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.SessionRequest;
import dev.sessionkeeper.registry.TestDatabase;
import dev.sessionkeeper.registry.receiver.Fault;
import dev.sessionkeeper.registry.receiver.UsageReceiver;
import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.webhook.TargetGuard;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Thirty days of 1,000 users: begins, upgrades, ends, outages of the job, a receiver that repeats
 * and fails. The result is compared with an oracle that knows only the answers to the callers.
 */
@Tag("slow")
class ThirtyDaysTest {
  private static final Instant START = Instant.parse("2026-11-01T00:00:00Z");
  private static final Duration STEP = Duration.ofHours(6);
  private static final long PERIOD = Duration.ofDays(30).toNanos() / 1000;
  private static final int USERS = 1000;

  private final Random random = new Random(30);
  private final SettableClock time = SettableClock.create();
  private final TestDatabase db = new TestDatabase();
  private final SessionRegistry registry =
      SessionRegistry.create(db.source, RegistryOptions.defaults());
  private final Map<UUID, RegisteredSession> oracle = new HashMap<>();

  @Test
  void everySumIsTheOraclesToTheMicrosecond() throws Exception {
    db.setClock(START);
    try (db;
        var receiver = UsageReceiver.start(0, Optional.empty())) {
      receiver.failWith(() -> random.nextInt(4) == 0 ? Fault.ERROR_AFTER_APPLYING : Fault.NONE);
      var usage = Usage.create(db.source, options(receiver));
      var users = users();
      users.forEach(this::put);
      for (int step = 0; step < 120; step++) {
        live(users);
        boolean outage = step % 40 >= 30 && step % 40 < 36;
        if (!outage) {
          usage.meter(db.now());
        }
        if (!outage && step % 10 == 0) {
          usage.deliver(() -> true);
        }
      }
      finish(usage, receiver);
      for (var session : oracle.values()) {
        assertThat(receiver.applied().of(session.sessionId()))
            .as("session %s", session)
            .isEqualByComparingTo(exact(session));
      }
      assertThat(receiver.applied().repeatedRecords()).isZero();
      assertThat(receiver.applied().repeatedBatches()).isPositive();
      assertThat(receiver.applied().gaps()).isZero();
      assertThat(receiver.complaints()).isEmpty();
      assertThat(db.number(Ledgers.GAPS_AND_OVERLAPS)).isZero();
      assertThat(db.number(Ledgers.NOT_THE_INTEGRAL)).isZero();
      assertThat(usage.proof(Optional.empty())).hasSize(10).allMatch(UsageProof::isExact);
    }
  }

  /** Some users upgrade, end or return at uneven moments of the step. */
  private void live(List<SessionRequest> users) {
    var left = STEP;
    for (int act = 0; act < 6; act++) {
      var by = Duration.ofNanos(random.nextLong(left.toNanos() / 2) / 1000 * 1000);
      pass(by);
      left = left.minus(by);
      var request = users.get(random.nextInt(USERS));
      if (random.nextInt(3) == 0) {
        end(request);
      } else {
        put(TestDatabase.again(request, 1 + random.nextInt(3)));
      }
    }
    pass(left);
  }

  private void pass(Duration by) {
    db.moveClock(by);
    time.advance(by);
  }

  private void put(SessionRequest request) {
    switch (registry.put(request)) {
      case PutOutcome.Created created ->
          oracle.put(created.session().sessionId(), created.session());
      case PutOutcome.Upgraded upgraded -> {
        var session = upgraded.session();
        endInOracle(request, session.startedAt());
        oracle.put(session.sessionId(), session);
      }
      case PutOutcome.Existing same -> {}
      case PutOutcome.TenantMismatch mismatch -> throw new AssertionError("no tenant was changed");
    }
  }

  private void end(SessionRequest request) {
    for (var session : List.copyOf(oracle.values())) {
      if (session.isActive() && session.userObjectId().equals(request.userObjectId())) {
        endInOracle(request, registry.end(session.sessionId()).orElseThrow().endsAt());
      }
    }
  }

  private void endInOracle(SessionRequest request, Instant at) {
    oracle.replaceAll(
        (id, session) ->
            session.isActive() && session.userObjectId().equals(request.userObjectId())
                ? new RegisteredSession(
                    id,
                    session.userObjectId(),
                    session.tenantObjectId(),
                    session.capacityId(),
                    session.kind(),
                    session.startedAt(),
                    at.isBefore(session.endsAt()) ? at : session.endsAt(),
                    false)
                : session);
  }

  /** Lets everything end, and meters and delivers it. */
  private void finish(Usage usage, UsageReceiver receiver) throws InterruptedException {
    receiver.failWith(() -> Fault.NONE);
    pass(Duration.ofDays(31));
    usage.meter(db.now());
    registry.sweep();
    for (int round = 0; round < 3; round++) {
      pass(Duration.ofMinutes(10));
      usage.deliver(() -> true);
    }
    assertThat(db.number("SELECT count(*) FROM keeper.usage_batch WHERE state <> 'acknowledged'"))
        .isZero();
  }

  private static BigDecimal exact(RegisteredSession session) {
    var micros =
        BigInteger.valueOf(ChronoUnit.MICROS.between(session.startedAt(), session.endsAt()));
    var scaled =
        micros.multiply(BigInteger.valueOf(session.kind())).multiply(BigInteger.TEN.pow(9));
    var parts = scaled.divideAndRemainder(BigInteger.valueOf(PERIOD));
    int half = parts[1].shiftLeft(1).compareTo(BigInteger.valueOf(PERIOD));
    boolean up = half > 0 || (half == 0 && parts[0].testBit(0));
    return new BigDecimal(up ? parts[0].add(BigInteger.ONE) : parts[0], 9);
  }

  private List<SessionRequest> users() {
    var users = new ArrayList<SessionRequest>();
    for (int i = 0; i < USERS; i++) {
      users.add(
          new SessionRequest(
              UUID.randomUUID(), new UUID(0, 1 + i % 10), UUID.randomUUID(), 1 + i % 3));
    }
    return users;
  }

  private UsageOptions options(UsageReceiver receiver) {
    return UsageOptions.defaults()
        .endpoint(receiver.url())
        .guard(TargetGuard.allowingPrivate())
        .retry(new RetryPolicy(9, Duration.ZERO, 1, Duration.ZERO, 0))
        .time(new RealTimersAnd(time));
  }
}
