package dev.sessionkeeper.registry.usage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.registry.PutOutcome;
import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.SessionRequest;
import dev.sessionkeeper.registry.TestDatabase;
import dev.sessionkeeper.registry.receiver.UsageReceiver;
import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.webhook.TargetGuard;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Only the database's clock counts: nodes with a wrong clock leave the same tables. */
@Tag("slow")
class NodeClocksTest {
  private static final Instant NOON = Instant.parse("2026-11-15T12:00:00Z");

  /** Ids are random, everything else is deterministic. */
  private static final String TABLES =
      """
      SELECT concat_ws(E'\\n',
        (SELECT string_agg(concat_ws(' ', user_id, kind, started_at, expires_at, ended_at, end_reason, metered_through,
                                     metered_wmicros, meter_seq, closed), E'\\n' ORDER BY user_id, started_at)
           FROM keeper.registered_session),
        (SELECT string_agg(concat_ws(' ', user_id, kind, seq, period_from, period_to, wmicros, units), E'\\n'
                           ORDER BY user_id, period_from, seq)
           FROM keeper.usage_ledger),
        (SELECT string_agg(concat_ws(' ', tenant_id, batch_no, records, sum_units, state, created_at, settled_at), E'\\n'
                           ORDER BY tenant_id, batch_no)
           FROM keeper.usage_batch),
        (SELECT string_agg(event, ' ' ORDER BY id) FROM keeper.stream_outbox))
      """;

  /** A machine whose wall clock is wrong. */
  private record Wrong(SettableClock right, Duration by) implements TimeSource {
    @Override
    public long nanoTime() {
      return right.nanoTime();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return TimeSource.system().schedule(delay, task);
    }

    @Override
    public Instant instant() {
      return NOON.plus(by);
    }
  }

  @Test
  void aDayBehindOnTimeAndADayAheadLeaveTheSameTables() throws Exception {
    var seen = new HashSet<String>();
    for (var by : List.of(Duration.ofDays(-1), Duration.ZERO, Duration.ofDays(1))) {
      seen.add(tablesAfter(by));
    }
    assertThat(seen).hasSize(1);
    assertThat(seen.iterator().next()).contains("upgraded", "expired", "acknowledged");
  }

  private static String tablesAfter(Duration by) throws Exception {
    var clock = SettableClock.create();
    try (var db = new TestDatabase();
        var receiver = UsageReceiver.start(0, Optional.empty())) {
      db.setClock(NOON);
      var registry = SessionRegistry.create(db.source, RegistryOptions.defaults());
      var usage =
          Usage.create(
              db.source,
              UsageOptions.defaults()
                  .endpoint(receiver.url())
                  .guard(TargetGuard.allowingPrivate())
                  .time(new Wrong(clock, by)));
      var first = (PutOutcome.Created) registry.put(request(1, 1));
      registry.put(request(2, 1));
      registry.put(request(3, 2));
      for (var step : List.of(Duration.ofMinutes(1), Duration.ofHours(2), Duration.ofDays(31))) {
        db.moveClock(step);
        clock.advance(step);
        registry.put(request(2, 3));
        registry.end(first.session().sessionId());
        usage.meter(db.now());
        usage.deliver(() -> true);
      }
      registry.sweep();
      assertThat(usage.proof(Optional.empty())).isNotEmpty().allMatch(UsageProof::isExact);
      return db.text(TABLES);
    }
  }

  private static SessionRequest request(int user, int kind) {
    return new SessionRequest(new UUID(0, user), new UUID(0, 9), new UUID(0, 1), kind);
  }
}
