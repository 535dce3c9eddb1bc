package dev.sessionkeeper.server.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The metrics of an idle server, and of its leases. */
class MetricsTest {
  private static final Pattern EXPRESSION = Pattern.compile("expr: (.*)");
  private static final Pattern NAME = Pattern.compile("(keeper|jvm)_[a-z_]+");
  private static final String BOT =
      """
      github: { secrets: ["0123456789abcdef0123456789abcdef"] }
      bots:
        - name: quiet
          deliver: { url: "http://127.0.0.1:9/", allow_private_targets: true }
      """;

  private static TestServer withQueue(String yaml) {
    var server = TestServer.start(yaml, TestDatabase.create().environment());
    server.put("/queues/q", "{\"mode\":\"ORDERED\"}");
    return server;
  }

  private static double value(TestServer server, String name) {
    return server
        .get("/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " is not shown"));
  }

  @Test
  void everyNumberOfTheAlertsOnQueuesAndServersIsThere() throws IOException {
    try (var server = withQueue("")) {
      var shown = server.get("/metrics").body();
      for (var rules : List.of("queue-alerts.yml", "server-alerts.yml")) {
        var names =
            EXPRESSION
                .matcher(Files.readString(Path.of("..", "ops", rules)))
                .results()
                .flatMap(expression -> NAME.matcher(expression.group(1)).results())
                .map(MatchResult::group)
                // Only servers with TLS or an embedded database expose these; tested elsewhere.
                .filter(name -> !name.startsWith("keeper_tls_") && !name.contains("_disk_"))
                .distinct()
                .toList();
        assertThat(names).hasSizeGreaterThan(4);
        assertThat(names).allSatisfy(name -> assertThat(shown).contains("\n" + name));
      }
    }
  }

  @Test
  void countersExistBeforeTheirFirstEvent() {
    try (var server = withQueue(BOT)) {
      assertThat(server.get("/metrics").body())
          .contains("keeper_webhook_messages_total{bot_name=\"quiet\"} 0.0")
          .contains("keeper_webhook_replayed_total 0.0")
          .contains(
              "keeper_push_requests_seconds_count{bot_name=\"quiet\",outcome=\"unreachable\"} 0")
          .contains(
              "keeper_session_duration_seconds_count{bot_name=\"quiet\",session_outcome=\"error\"}"
                  + " 0")
          .contains(
              "keeper_job_duration_seconds_count{job_name=\"usage-tick\",outcome=\"failed\"} 0")
          .contains("keeper_http_errors_total 0.0")
          .contains("keeper_http_rate_limited_total 0.0")
          .contains("keeper_order_violations_total 0.0")
          .contains("jvm_memory_used_bytes")
          .contains("jvm_threads_live_threads")
          .contains("process_files_open_files");
    }
  }

  @Test
  void theStoreShowsThatItIsReadyAndHowLargeItIs() {
    try (var server = withQueue("")) {
      assertThat(value(server, "keeper_store_ready")).isEqualTo(1);
      assertThat(value(server, "keeper_store_size_bytes")).isGreaterThan(1_000_000);
    }
  }

  @Test
  void anEmbeddedStoreShowsTheRoomOnItsDisk(@org.junit.jupiter.api.io.TempDir Path folder) {
    var data = folder.resolve("data").toString();
    try (var server = TestServer.start("", java.util.Map.of("KEEPER_STORE_DATA", data))) {
      assertThat(value(server, "keeper_store_disk_free_bytes"))
          .isPositive()
          .isLessThanOrEqualTo(value(server, "keeper_store_disk_bytes"));
    }
  }

  @Test
  void theAgeOfALeaseGrowsWhileItsOwnerKeepsItAndIsZeroAfterwards() throws InterruptedException {
    var time = SettableClock.create();
    var registry = new SimpleMeterRegistry();
    var ages = new LeaseAges(registry, time);
    var queue = QueueName.of("q");
    try (var queues = MemoryQueueProvider.create(time)) {
      queues.declare(queue, QueueSettings.ordered().withLockDuration(Duration.ofMinutes(10)));
      queues.send(queue, List.of(Message.of(SessionId.of("s"), Payload.text("1"))));
      try (var held = accept(queues)) {
        assertThat(oldest(ages, registry, queues)).isZero();
        time.advance(Duration.ofSeconds(301));
        assertThat(oldest(ages, registry, queues)).isEqualTo(301);
      }
      try (var held = accept(queues)) {
        assertThat(oldest(ages, registry, queues)).as("a new lease").isZero();
      }
    }
  }

  private static HeldSession accept(MemoryQueueProvider queues) throws InterruptedException {
    var accepted =
        queues.sessions(QueueName.of("q")).acceptNext(Owner.of("a"), Duration.ofSeconds(1));
    return ((AcceptResult.Accepted) accepted).session();
  }

  private static double oldest(
      LeaseAges ages, SimpleMeterRegistry registry, MemoryQueueProvider queues) {
    var all = java.util.Set.of(QueueName.of("q"));
    ages.refresh(all, all, queues);
    return registry.get("keeper.queue.oldest.lease.age").gauge().value();
  }

  @Test
  void theServersOfAQueueShowHowManyBucketsEachOfThemReads() {
    var source = TestDatabase.create().source();
    var atOnce = PostgresOptions.ofDefaults().withCarryFrom(0);
    var queue = QueueName.of("q");
    try (var one = PostgresQueueProvider.create(source, atOnce);
        var other = PostgresQueueProvider.create(source, atOnce)) {
      one.declare(queue, QueueSettings.ordered());
      var shown = new Reading(one);
      var shownByOther = new Reading(other);
      assertThat(shown.buckets(queue)).as("before anybody reads").isZero();
      await()
          .untilAsserted(
              () -> {
                one.sessions(queue).acceptNext(Owner.of("a"), Duration.ZERO);
                assertThat(shown.buckets(queue)).isEqualTo(64);
              });
      assertThat(shownByOther.buckets(queue)).isZero();
      await()
          .untilAsserted(
              () -> {
                one.sessions(queue).acceptNext(Owner.of("a"), Duration.ZERO);
                other.sessions(queue).acceptNext(Owner.of("b"), Duration.ofMillis(50));
                assertThat(shown.buckets(queue)).isEqualTo(32);
                assertThat(shownByOther.buckets(queue)).isEqualTo(32);
              });
    }
  }

  @Test
  void aServerShowsTheBytesOfMessagesThatItHasReadAhead() throws Exception {
    var source = TestDatabase.create().source();
    var queue = QueueName.of("q");
    try (var queues =
        PostgresQueueProvider.create(source, PostgresOptions.ofDefaults().withCarryFrom(0))) {
      queues.declare(queue, QueueSettings.ordered());
      var shown = new Reading(queues);
      assertThat(shown.bytes()).isZero();
      var large = Payload.text("x".repeat(10_000));
      queues.send(
          queue,
          List.of(
              Message.of(SessionId.of("first"), large), Message.of(SessionId.of("second"), large)));
      var accepted = queues.sessions(queue).acceptNext(Owner.of("a"), Duration.ofSeconds(5));
      try (var held = ((AcceptResult.Accepted) accepted).session()) {
        await().untilAsserted(() -> assertThat(shown.bytes()).isGreaterThanOrEqualTo(10_000));
      }
    }
  }

  /** The gauges of one process. */
  private static final class Reading {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final ReadingGauges gauges;

    Reading(PostgresQueueProvider queues) {
      gauges = new ReadingGauges(registry, queues);
    }

    double buckets(QueueName queue) {
      gauges.refresh(List.of(queue));
      return registry.get("keeper.queue.owned.buckets").tag("queue", queue.value()).gauge().value();
    }

    double bytes() {
      return registry.get("keeper.queue.buffered.bytes").gauge().value();
    }
  }

  @Test
  void aScrapeDoesNotWaitForAStoreThatHangs() throws Exception {
    var answer = new CountDownLatch(1);
    var asked = new AtomicInteger();
    var sampled =
        new Sampled<>(
            1,
            () -> {
              asked.incrementAndGet();
              awaitUninterruptibly(answer);
              return 2;
            },
            Duration.ZERO,
            TimeSource.system());
    assertThat(sampled.get()).as("after its patience").isEqualTo(1);
    assertThat(sampled.get()).as("while the reading runs").isEqualTo(1);
    assertThat(asked).hasValue(1);
    answer.countDown();
    await().until(() -> sampled.get() == 2);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void theScaleSignalCountsReadyAndHeldSessions() {
    try (var server = withQueue("")) {
      for (int i = 0; i < 5; i++) {
        server.post(
            "/queues/q/messages",
            "{\"messages\":[{\"sessionId\":\"s%d\",\"body\":1}]}".formatted(i));
      }
      server.post("/queues/q/leases", "{\"owner\":\"a\"}");
      server.post("/queues/q/leases", "{\"owner\":\"b\"}");
      var signal = server.get("/queues/q/scale?slots=2").json();
      assertThat(signal.get("readySessions").asInt()).isEqualTo(3);
      assertThat(signal.get("heldSessions").asInt()).isEqualTo(2);
      assertThat(signal.get("sessions").asInt()).isEqualTo(5);
      assertThat(signal.get("consumers").asInt()).isEqualTo(3);
      assertThat(signal.get("readyPerSlot").asDouble()).isEqualTo(1.5);
      assertThat(value(server, "keeper_queue_ready_sessions_per_slot")).isEqualTo(1.5);
      assertThat(server.get("/queues/none/scale").status()).isEqualTo(404);
      assertThat(server.get("/queues/q/scale?slots=0").status()).isEqualTo(400);
    }
  }
}
