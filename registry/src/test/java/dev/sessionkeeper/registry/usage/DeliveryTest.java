package dev.sessionkeeper.registry.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.SessionRequest;
import dev.sessionkeeper.registry.TestDatabase;
import dev.sessionkeeper.registry.receiver.Fault;
import dev.sessionkeeper.registry.receiver.UsageReceiver;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.webhook.TargetGuard;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The outbox against a receiver that fails in every way. */
@Tag("slow")
class DeliveryTest {
  private static final WebhookSignature SIGNATURE =
      WebhookSignature.of("whsec_dXNhZ2UtdGVzdC1zZWNyZXQtb2YtMzItYnl0ZXM=");
  private final TestDatabase db = new TestDatabase();
  private final List<UsageEvent> events = new CopyOnWriteArrayList<>();
  private UsageReceiver receiver;
  private Usage usage;

  @BeforeEach
  void start() throws IOException {
    receiver = UsageReceiver.start(0, Optional.of(SIGNATURE));
    usage = Usage.create(db.source, options());
  }

  @AfterEach
  void close() {
    receiver.close();
    db.close();
  }

  private UsageOptions options() {
    return UsageOptions.defaults()
        .endpoint(receiver.url())
        .signature(SIGNATURE)
        .guard(TargetGuard.allowingPrivate())
        .lease(Duration.ofMinutes(1))
        .timeout(Duration.ofSeconds(20))
        .retry(new RetryPolicy(9, Duration.ofMillis(20), 1, Duration.ofMillis(20), 0.5))
        .listener(events::add);
  }

  /** Short timeouts, for receivers that never answer. */
  private UsageOptions hasty() {
    return options().timeout(Duration.ofMillis(600)).lease(Duration.ofSeconds(2));
  }

  /** Without a key, a crash, a lost lock or a time-out after success once billed twice. */
  @Test
  void whateverTheReceiverDoesEachRecordIsAppliedOnce() throws Exception {
    usage = Usage.create(db.source, hasty());
    var random = new Random(5);
    var faults =
        List.of(
            Fault.DOWN,
            Fault.TOO_MANY,
            Fault.ERROR_AFTER_APPLYING,
            Fault.SILENT_AFTER_APPLYING,
            Fault.CUT_AFTER_APPLYING,
            Fault.DRIP);
    receiver.failWith(
        () -> {
          synchronized (random) {
            return random.nextInt(3) == 0 ? faults.get(random.nextInt(6)) : Fault.NONE;
          }
        });
    for (int tick = 0; tick < 4; tick++) {
      freeze(4, 10);
    }
    await().atMost(Duration.ofSeconds(60)).until(this::deliverAll);
    assertThat(receiver.applied().recordCount()).isEqualTo((int) rows());
    assertThat(receiver.applied().repeatedRecords()).isZero();
    assertThat(receiver.applied().gaps()).isZero();
    assertThat(receiver.complaints()).isEmpty();
    assertThat(sum()).isEqualByComparingTo(db.text("SELECT sum(units) FROM keeper.usage_ledger"));
    assertThat(usage.proof(Optional.empty())).allMatch(UsageProof::isExact);
  }

  @Test
  void oneTenantsReceiverHoldsUpNoOther() throws Exception {
    usage = Usage.create(db.source, hasty());
    freeze(1, 3);
    receiver.failWith(() -> Fault.SILENT_AFTER_APPLYING);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var first = threads.submit(() -> usage.deliver(() -> true));
      await().until(() -> receiver.applied().recordCount() == 3);
      receiver.failWith(() -> Fault.NONE);
      freeze(1, 3);
      // The first tenant's post is still unanswered.
      await().until(() -> receiver.applied().recordCount() == 6);
      first.get();
    }
  }

  @Test
  void aBatchThatIsRefusedIsSetAsideAndCanBeSentAgain() throws Exception {
    freeze(1, 2);
    receiver.failWith(() -> Fault.REFUSE);
    await()
        .until(
            () -> {
              usage.deliver(() -> true);
              return count("dead") == 1;
            });
    assertThat(events).filteredOn(e -> e instanceof UsageEvent.Dead).hasSize(1);
    assertThat(events).filteredOn(e -> e instanceof UsageEvent.DeliveryFailed).hasSize(2);
    receiver.failWith(() -> Fault.NONE);
    var dead =
        usage
            .batches(Optional.empty(), Optional.of(UsageBatch.State.DEAD), Page.Request.first(5))
            .items()
            .get(0);
    assertThat(usage.proof(Optional.empty())).allMatch(UsageProof::isExact);
    assertThat(usage.replay(dead, Actor.of("ann"))).isTrue();
    assertThat(usage.deliver(() -> true)).isEqualTo(1);
    assertThat(receiver.applied().recordCount()).isEqualTo(2);
    assertThat(usage.batch(dead.batchId()).orElseThrow().state())
        .isEqualTo(UsageBatch.State.ACKNOWLEDGED);
  }

  @Test
  void aBatchSentAgainAfterItWasAppliedChangesNothing() throws Exception {
    freeze(1, 2);
    usage.deliver(() -> true);
    var before = sum();
    var batch =
        usage.batches(Optional.empty(), Optional.empty(), Page.Request.first(1)).items().get(0);
    usage.replay(batch, Actor.of("ann"));
    usage.deliver(() -> true);
    assertThat(sum()).isEqualByComparingTo(before);
    assertThat(receiver.applied().repeatedBatches()).isEqualTo(1);
    assertThat(receiver.complaints()).isEmpty();
  }

  @Test
  void anAnswerThatComesAfterATakeOverIsDropped() throws Exception {
    freeze(1, 1);
    var leases = new DeliveryLeases(db.database, options().owner(Owner.of("late")));
    var late = leases.claim(1).get(0);
    var batch = leases.next(late).get(0);
    db.execute("UPDATE keeper.usage_lane SET lease_until = keeper.now() - interval '1 second'");
    var next = new DeliveryLeases(db.database, options().owner(Owner.of("next")));
    var taken = next.claim(1).get(0);
    assertThat(taken.lease().epoch()).isEqualTo(late.lease().epoch() + 1);
    assertThat(leases.acknowledge(late, batch)).isFalse();
    assertThat(leases.fail(late, batch, false, "late", Duration.ofHours(1))).isFalse();
    assertThat(count("pending")).isEqualTo(1);
    assertThat(next.acknowledge(taken, batch)).isTrue();
  }

  @Test
  void twoNodesDeliverAtOnceInOrder() throws Exception {
    for (int tick = 0; tick < 5; tick++) {
      freeze(6, 2);
    }
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var one = threads.submit(() -> usage.deliver(() -> true));
      var other = Usage.create(db.source, options().owner(Owner.unique("other")));
      var two = threads.submit(() -> other.deliver(() -> true));
      assertThat(one.get() + two.get()).isEqualTo((int) count("acknowledged"));
    }
    assertThat(count("pending")).isZero();
    assertThat(receiver.applied().repeatedBatches()).isZero();
  }

  /** The clock was a year ahead; without the repair the tenant's batches would wait for a year. */
  @Test
  void aTenantThatFailedInTheFutureGoesOnWhenTheClockIsSetBack() throws Exception {
    freeze(1, 1);
    db.setClock(db.now().plus(Duration.ofDays(365)));
    receiver.failWith(() -> Fault.DOWN);
    assertThat(usage.deliver(() -> true)).isZero();
    db.moveClock(Duration.ofDays(-365));
    receiver.failWith(() -> Fault.NONE);
    assertThat(usage.deliver(() -> true)).isEqualTo(1);
  }

  @Test
  void withoutAnEndpointBatchesWait() throws Exception {
    freeze(1, 1);
    assertThat(Usage.create(db.source, UsageOptions.defaults()).deliver(() -> true)).isZero();
    assertThat(count("pending")).isEqualTo(1);
  }

  @Test
  void aForbiddenTargetIsNotCalled() throws Exception {
    freeze(1, 1);
    Usage.create(db.source, options().guard(TargetGuard.publicOnly())).deliver(() -> true);
    assertThat(receiver.applied().recordCount()).isZero();
    assertThat(db.text("SELECT last_error FROM keeper.usage_batch")).contains("private address");
  }

  private boolean deliverAll() throws InterruptedException {
    usage.deliver(() -> true);
    return count("pending") == 0;
  }

  /** Creates and meters sessions of new tenants: one batch per tenant. */
  private void freeze(int tenants, int sessions) {
    var registry = SessionRegistry.create(db.source, RegistryOptions.defaults());
    for (int t = 0; t < tenants; t++) {
      var tenant = UUID.randomUUID();
      for (int s = 0; s < sessions; s++) {
        registry.put(new SessionRequest(UUID.randomUUID(), tenant, UUID.randomUUID(), 1 + s % 3));
      }
    }
    usage.meter(db.now());
  }

  private long rows() {
    return db.number("SELECT count(*) FROM keeper.usage_ledger");
  }

  private long count(String state) {
    return db.number("SELECT count(*) FROM keeper.usage_batch WHERE state = '" + state + "'");
  }

  private BigDecimal sum() {
    return receiver.applied().sums().values().stream().reduce(BigDecimal.ZERO, BigDecimal::add);
  }
}
