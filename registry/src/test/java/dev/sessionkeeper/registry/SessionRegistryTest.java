package dev.sessionkeeper.registry;

import static dev.sessionkeeper.registry.TestDatabase.again;
import static dev.sessionkeeper.registry.TestDatabase.someone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.store.NumberEvents;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class SessionRegistryTest {
  private static final Instant NOON = Instant.parse("2026-11-15T12:00:00Z");
  private final TestDatabase db = new TestDatabase();
  private final SessionRegistry registry =
      SessionRegistry.create(db.source, RegistryOptions.defaults());

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void aNewKeyGetsASessionOfThirtyDays() {
    db.setClock(NOON);
    var session = created(someone(2));
    assertThat(session.startedAt()).isEqualTo(NOON);
    assertThat(session.endsAt()).isEqualTo(NOON.plus(Duration.ofDays(30)));
    assertThat(session.isActive()).isTrue();
    assertThat(session.sessionId().version()).isEqualTo(7);
    assertThat(registry.find(session.sessionId())).contains(session);
  }

  @Test
  void theSameOrALowerKindFindsTheSessionThatIsThere() {
    var request = someone(2);
    var session = created(request);
    assertThat(registry.put(request)).isEqualTo(new PutOutcome.Existing(session));
    assertThat(registry.put(again(request, 1))).isEqualTo(new PutOutcome.Existing(session));
  }

  @Test
  void anUpgradeEndsTheOldSessionAtTheInstantTheNewOneBegins() {
    var request = someone(1);
    var old = created(request);
    var outcome = registry.put(again(request, 3));
    assertThat(outcome).isInstanceOf(PutOutcome.Upgraded.class);
    var begun = ((PutOutcome.Upgraded) outcome).session();
    var ended = registry.find(old.sessionId()).orElseThrow();
    assertThat(ended.isActive()).isFalse();
    assertThat(ended.endsAt()).isEqualTo(begun.startedAt());
    assertThat(begun.kind()).isEqualTo(3);
  }

  /** Start and end once came from two clocks, and an end had to be later than its start. */
  @Test
  void anUpgradeInTheSameMicrosecondLeavesASessionOfNoLength() {
    db.setClock(NOON);
    var request = someone(1);
    var old = created(request);
    registry.put(again(request, 2));
    assertThat(registry.find(old.sessionId()).orElseThrow().endsAt()).isEqualTo(NOON);
  }

  /** A session past its end was once returned until the sweep had ended it. */
  @Test
  void aSessionPastItsEndIsNeverGivenOutThoughNobodySweptIt() {
    db.setClock(NOON);
    var request = someone(3);
    var old = created(request);
    db.setClock(old.endsAt());
    var outcome = registry.put(again(request, 1));
    assertThat(outcome).isInstanceOf(PutOutcome.Created.class);
    assertThat(registry.find(old.sessionId()).orElseThrow().endsAt()).isEqualTo(old.endsAt());
    assertThat(
            db.text("SELECT end_reason FROM keeper.registered_session WHERE ended_at IS NOT NULL"))
        .isEqualTo("expired");
  }

  @Test
  void aRowThatSomebodyHoldsHoldsUpNobodyElse() throws Exception {
    var held = someone(1);
    created(held);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var connection = db.source.getConnection();
        var statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("SELECT 1 FROM keeper.registered_session FOR UPDATE");
      var upgrade = threads.submit(() -> registry.put(again(held, 3)));
      for (int i = 0; i < 50; i++) {
        assertThat(registry.put(someone(1))).isInstanceOf(PutOutcome.Created.class);
      }
      assertThat(registry.put(held)).isInstanceOf(PutOutcome.Existing.class);
      assertThat(upgrade.isDone()).isFalse();
      connection.rollback();
      assertThat(upgrade.get()).isInstanceOf(PutOutcome.Upgraded.class);
    }
  }

  @Test
  void aKeyThatSomebodyIsTakingHoldsUpNobodyElse() throws Exception {
    var taken = someone(1);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var connection = db.source.getConnection();
        var statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute(
          """
          SELECT keeper.put_session('%s', '%s', '%s', 1::smallint, 1000, 2592000000000, interval '1 day')
          """
              .formatted(taken.tenantObjectId(), taken.userObjectId(), taken.capacityId()));
      var waits = threads.submit(() -> registry.put(taken));
      for (int i = 0; i < 5; i++) {
        assertThat(registry.put(someone(1))).isInstanceOf(PutOutcome.Created.class);
      }
      assertThat(waits.isDone()).isFalse();
      connection.commit();
      assertThat(waits.get()).isInstanceOf(PutOutcome.Existing.class);
    }
  }

  /** The requests meet in batches of one statement; each still gets its own answer. */
  @Test
  void aCrowdOfStrangersAndTwinsIsAnsweredOneByOne() throws Exception {
    var requests = new ArrayList<SessionRequest>();
    for (int i = 0; i < 200; i++) {
      var one = someone(1 + i % 3);
      requests.add(one);
      requests.add(again(one, 1));
    }
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var tasks = requests.stream().map(r -> (Callable<PutOutcome>) () -> registry.put(r)).toList();
      var outcomes = threads.invokeAll(tasks);
      for (int i = 0; i < requests.size(); i++) {
        var session = sessionOf(outcomes.get(i).get());
        assertThat(session.userObjectId()).isEqualTo(requests.get(i).userObjectId());
        assertThat(session.tenantObjectId()).isEqualTo(requests.get(i).tenantObjectId());
        assertThat(session.kind()).isGreaterThanOrEqualTo(requests.get(i).kind());
      }
    }
    assertThat(db.number("SELECT count(*) FROM keeper.registered_session WHERE ended_at IS NULL"))
        .isEqualTo(200);
    assertThat(
            db.number("SELECT count(*) FROM keeper.stream_outbox WHERE event = 'session.created'"))
        .isEqualTo(db.number("SELECT count(*) FROM keeper.registered_session"));
  }

  private static RegisteredSession sessionOf(PutOutcome outcome) {
    return switch (outcome) {
      case PutOutcome.Created created -> created.session();
      case PutOutcome.Existing existing -> existing.session();
      case PutOutcome.Upgraded upgraded -> upgraded.session();
      case PutOutcome.TenantMismatch mismatch -> throw new AssertionError("a stranger's session");
    };
  }

  /** Another tenant once got a foreign session. */
  @Test
  void anotherTenantIsRefusedAndToldNothing() {
    var request = someone(1);
    created(request);
    var foreign =
        new SessionRequest(request.userObjectId(), UUID.randomUUID(), request.capacityId(), 3);
    assertThat(registry.put(foreign)).isEqualTo(new PutOutcome.TenantMismatch());
    assertThat(db.number("SELECT count(*) FROM keeper.registered_session")).isEqualTo(1);
  }

  @Test
  void anotherTenantMayHaveAKeyWhoseSessionIsOver() {
    db.setClock(NOON);
    var request = someone(1);
    var old = created(request);
    db.setClock(old.endsAt().plusSeconds(1));
    var foreign =
        new SessionRequest(request.userObjectId(), UUID.randomUUID(), request.capacityId(), 1);
    assertThat(registry.put(foreign)).isInstanceOf(PutOutcome.Created.class);
  }

  /** The lock once protected nothing, and the loser of a race got an error. */
  @Test
  void aThousandCallersAtOnceGetOneSessionAndNoError() throws Exception {
    var request = someone(1);
    var outcomes =
        together(
            IntStream.range(0, 1000)
                .mapToObj(i -> (Callable<PutOutcome>) () -> registry.put(again(request, 1 + i % 3)))
                .toList());
    assertThat(outcomes).filteredOn(o -> o instanceof PutOutcome.Created).hasSize(1);
    assertThat(db.number("SELECT count(*) FROM keeper.registered_session WHERE ended_at IS NULL"))
        .isEqualTo(1);
    assertThat(outcomes)
        .filteredOn(o -> !(o instanceof PutOutcome.Existing))
        .hasSize((int) db.number("SELECT count(*) FROM keeper.registered_session"));
    assertDisjointAndWithoutGaps();
  }

  @Test
  void aRaceOfUpgradesEndsAndRenewalsNeverLeavesTwoActiveOnes() throws Exception {
    var requests = List.of(someone(1), someone(1), someone(1));
    var work = new ArrayList<Callable<PutOutcome>>();
    for (int i = 0; i < 300; i++) {
      int turn = i;
      var request = requests.get(i % 3);
      work.add(
          () -> {
            var outcome = registry.put(again(request, 1 + turn % 3));
            if (turn % 5 == 0 && outcome instanceof PutOutcome.Existing found) {
              registry.end(found.session().sessionId());
            }
            if (turn % 7 == 0 && outcome instanceof PutOutcome.Existing found) {
              registry.renew(found.session().sessionId());
            }
            return outcome;
          });
    }
    together(work);
    assertThat(db.number("SELECT count(*) FROM keeper.registered_session WHERE ended_at IS NULL"))
        .isLessThanOrEqualTo(3);
    assertThat(
            db.number(
                """
                SELECT count(*) FROM keeper.registered_session a
                  JOIN keeper.registered_session b
                    ON a.user_id = b.user_id AND a.session_id < b.session_id
                   AND a.started_at < coalesce(b.ended_at, 'infinity')
                   AND b.started_at < coalesce(a.ended_at, 'infinity')
                """))
        .isZero();
  }

  @Test
  void aClockThatGoesBackOverlapsNothing() {
    db.setClock(NOON);
    var request = someone(1);
    var first = created(request);
    db.moveClock(Duration.ofMinutes(10));
    registry.end(first.sessionId());
    db.moveClock(Duration.ofMinutes(-5));
    var second = created(request);
    assertThat(second.startedAt()).isEqualTo(NOON.plus(Duration.ofMinutes(10)));
  }

  @Test
  void endingTwiceEndsOnce() {
    var session = created(someone(1));
    var ended = registry.end(session.sessionId()).orElseThrow();
    assertThat(ended.isActive()).isFalse();
    assertThat(registry.end(session.sessionId())).contains(ended);
    assertThat(registry.end(UUID.randomUUID())).isEmpty();
    assertThat(registry.put(someoneLike(session))).isInstanceOf(PutOutcome.Created.class);
  }

  @Test
  void aRenewalCountsFromNowAndAnEndedSessionHasNone() {
    db.setClock(NOON);
    var session = created(someone(1));
    db.moveClock(Duration.ofDays(10));
    var renewed = registry.renew(session.sessionId()).orElseThrow();
    assertThat(renewed.endsAt()).isEqualTo(NOON.plus(Duration.ofDays(40)));
    assertThat(renewed.startedAt()).isEqualTo(NOON);
    db.setClock(renewed.endsAt());
    assertThat(registry.renew(session.sessionId()).orElseThrow().isActive()).isFalse();
    assertThat(registry.find(session.sessionId()).orElseThrow().endsAt())
        .isEqualTo(renewed.endsAt());
  }

  @Test
  void theSweepEndsWhatIsOverAtItsEndInChunks() {
    db.setClock(NOON);
    IntStream.range(0, 30).forEach(i -> created(someone(1)));
    db.execute(
        """
        INSERT INTO keeper.registered_session (session_id, tenant_id, user_id, capacity_id, kind,
               factor_milli, period_micros, started_at, expires_at, metered_through)
        SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 2, 2000,
               1000000, keeper.now(), keeper.now() + i * interval '1 second', keeper.now()
          FROM generate_series(1, 1100) i
        """);
    db.moveClock(Duration.ofSeconds(1050));
    assertThat(registry.sweep()).isEqualTo(1050);
    assertThat(registry.sweep()).isZero();
    assertThat(
            db.number("SELECT count(*) FROM keeper.registered_session WHERE ended_at = expires_at"))
        .isEqualTo(1050);
    assertThat(registry.activeByKind()).containsEntry(1, 30L).containsEntry(2, 50L);
  }

  @Test
  void everyChangeHasItsEventAndTheNumbersHaveNoGap() {
    var request = someone(1);
    created(request);
    var session = ((PutOutcome.Upgraded) registry.put(again(request, 2))).session();
    registry.renew(session.sessionId());
    registry.end(session.sessionId());
    registry.put(request);
    assertThat(NumberEvents.step(db.database, 3)).isEqualTo(3);
    assertThat(NumberEvents.step(db.database, 100)).isEqualTo(3);
    assertThat(NumberEvents.step(db.database, 100)).isZero();
    assertThat(
            db.text(
                "SELECT string_agg(id || event, ' ' ORDER BY id) FROM keeper.stream_event WHERE stream = 'keeper.registry'"))
        .isEqualTo(
            "1session.created 2session.upgraded 3session.created 4session.renewed 5session.ended 6session.created");
    assertThat(db.text("SELECT data FROM keeper.stream_event WHERE id = 5"))
        .contains(session.sessionId().toString());
  }

  @Test
  void pagesHoldEverySessionOnceWhateverArrivesMeanwhile() {
    var tenant = UUID.randomUUID();
    var made = new HashSet<UUID>();
    for (int i = 0; i < 23; i++) {
      made.add(created(of(tenant)).sessionId());
    }
    var seen = new ArrayList<UUID>();
    Optional<String> cursor = Optional.empty();
    do {
      var page = registry.list(SessionFilter.all().tenant(tenant), new Page.Request(10, cursor));
      page.items().forEach(session -> seen.add(session.sessionId()));
      cursor = page.next();
      created(of(tenant));
    } while (cursor.isPresent());
    assertThat(seen).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(made);
  }

  @Test
  void aListIsNarrowedByAllItsFilters() {
    var tenant = UUID.randomUUID();
    var one = created(of(tenant));
    var two = created(of(tenant));
    registry.end(one.sessionId());
    var all = SessionFilter.all().tenant(tenant);
    assertThat(
            ids(
                new SessionFilter(
                    all.tenantObjectId(), Optional.empty(), Optional.empty(), Optional.of(true))))
        .containsExactly(two.sessionId());
    assertThat(
            ids(
                new SessionFilter(
                    all.tenantObjectId(), Optional.empty(), Optional.empty(), Optional.of(false))))
        .containsExactly(one.sessionId());
    assertThat(
            ids(
                new SessionFilter(
                    Optional.empty(),
                    Optional.of(two.userObjectId()),
                    Optional.of(two.capacityId()),
                    Optional.empty())))
        .containsExactly(two.sessionId());
    assertThatThrownBy(() -> registry.list(all, new Page.Request(10, Optional.of("nonsense"))))
        .isInstanceOf(KeeperException.InvalidCursor.class);
  }

  @Test
  void anUnknownKindIsRefusedWithTheKindsThereAre() {
    assertThatThrownBy(() -> registry.put(someone(4)))
        .hasMessage("sessionKind must be one of [1, 2, 3], was 4");
  }

  private List<UUID> ids(SessionFilter filter) {
    return registry.list(filter, Page.Request.first(100)).items().stream()
        .map(RegisteredSession::sessionId)
        .toList();
  }

  private void assertDisjointAndWithoutGaps() {
    assertThat(
            db.number(
                """
                SELECT count(*) FROM (
                  SELECT started_at, lag(ended_at) OVER (ORDER BY started_at, kind) AS before
                    FROM keeper.registered_session) s
                 WHERE before <> started_at
                """))
        .isZero();
  }

  private static SessionRequest of(UUID tenant) {
    return new SessionRequest(UUID.randomUUID(), tenant, UUID.randomUUID(), 1);
  }

  private static SessionRequest someoneLike(RegisteredSession session) {
    return new SessionRequest(
        session.userObjectId(), session.tenantObjectId(), session.capacityId(), 1);
  }

  private RegisteredSession created(SessionRequest request) {
    var outcome = registry.put(request);
    assertThat(outcome).isInstanceOf(PutOutcome.Created.class);
    return ((PutOutcome.Created) outcome).session();
  }

  private static <T> List<T> together(List<Callable<T>> work) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var results = new ArrayList<T>();
      for (var future : threads.invokeAll(work)) {
        results.add(future.get());
      }
      return results;
    }
  }
}
