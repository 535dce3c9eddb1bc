package dev.sessionkeeper.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.LeaseClient;
import dev.sessionkeeper.client.ProblemException;
import dev.sessionkeeper.client.QueueClient;
import dev.sessionkeeper.client.QueueClient.Outgoing;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import tools.jackson.databind.node.JsonNodeFactory;

/** Two servers on one database: a change through one is visible at the other at once. */
class TwoServersTest {
  private static final Duration NOW = Duration.ZERO;
  private static final Duration SOON = Duration.ofSeconds(10);

  private static Node one;
  private static Node two;
  private static KeeperClient here;
  private static KeeperClient there;

  private String name;
  private QueueClient queueHere;
  private QueueClient queueThere;

  @BeforeAll
  static void start() {
    var database = TestDatabase.create();
    one = new Node(database);
    two = new Node(database);
    here = one.client();
    there = two.client();
  }

  @AfterAll
  static void stop() {
    here.close();
    there.close();
    one.close();
    two.close();
  }

  @BeforeEach
  void declare(TestInfo test) {
    name = test.getTestMethod().orElseThrow().getName();
    queueHere = here.queue(name);
    queueThere = there.queue(name);
    queueHere.declare(QueueSettings.ordered());
  }

  private void send(String session, String... texts) {
    for (var text : texts) {
      queueHere.send(List.of(Outgoing.text(session, text).withId(text)));
    }
  }

  private static LeaseClient accept(QueueClient queue, String session) {
    return queue.accept(session, "somebody", SOON).orElseThrow();
  }

  private static List<String> texts(List<LeaseClient.Received> messages) {
    return messages.stream().map(message -> message.body().asString()).toList();
  }

  private static void assertProblem(String problem, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(ProblemException.class)
        .extracting(e -> ((ProblemException) e).type())
        .isEqualTo(problem);
  }

  @Test
  void aLeaseThatWasTakenHereIsUsedThere() {
    send("s", "m1", "m2", "m3");
    var lease = accept(queueHere, "s");
    var same = lease.through(there);

    var first = same.receive(2, NOW);
    assertThat(texts(first)).containsExactly("m1", "m2");
    lease.complete(first.subList(0, 1));
    assertThat(texts(lease.receive(5, NOW))).containsExactly("m2", "m3");
    assertProblem("out-of-order", () -> same.complete(lease.receive(5, NOW).subList(1, 2)));
    same.renew();
    same.complete(lease.receive(5, NOW));
    same.close();

    assertProblem("session-lock-lost", lease::renew);
    assertProblem("session-lock-lost", () -> lease.receive(1, NOW));
  }

  @Test
  void aSessionThatIsHeldHereIsLockedThere() {
    send("s", "m1");
    try (var lease = accept(queueHere, "s")) {
      assertProblem("session-locked", () -> queueThere.accept("s", "another", NOW));
      assertThat(queueThere.acceptNext("another", NOW)).isEmpty();
      assertThat(lease.through(there).epoch()).isEqualTo(lease.epoch());
    }
    var next = accept(queueThere, "s");
    assertThat(texts(next.receive(5, NOW))).containsExactly("m1");
  }

  @Test
  void whoWaitsThereIsWokenByASendHere() {
    var waiting =
        CompletableFuture.supplyAsync(
            () -> queueThere.acceptNext("waits", Duration.ofSeconds(30)).orElseThrow());
    await().until(() -> two.running() > 0);
    send("s", "m1");
    assertThat(waiting.orTimeout(20, java.util.concurrent.TimeUnit.SECONDS).join().sessionId())
        .isEqualTo("s");
  }

  @Test
  void aPauseThereTakesTheSessionFromItsOwnerHereUntilItIsResumed() {
    send("s", "m1");
    var lease = accept(queueHere, "s");
    var inHand = lease.receive(1, NOW);

    queueThere.act("s", "pause", "someone looks at it");

    assertProblem("session-lock-lost", () -> lease.complete(inHand));
    assertProblem("session-set-aside", () -> queueHere.accept("s", "a", NOW));
    assertProblem("session-set-aside", () -> queueThere.accept("s", "a", NOW));
    assertThat(queueHere.acceptNext("a", NOW)).isEmpty();

    queueHere.act("s", "resume", "");
    var next = accept(queueThere, "s");
    assertThat(next.epoch()).isGreaterThan(lease.epoch());
    assertThat(texts(next.receive(5, NOW))).containsExactly("m1");
  }

  @Test
  void aParkedSessionIsParkedForBothAndShowsWhy() {
    send("s", "m1", "m2");
    queueThere.act("s", "park", "the customer called");
    for (var queue : List.of(queueHere, queueThere)) {
      assertThat(queue.acceptNext("a", NOW)).isEmpty();
      var seen = queue.sessions(Map.of("status", "parked")).path("sessions").get(0);
      assertThat(seen.path("sessionId").asString()).isEqualTo("s");
      assertThat(seen.path("blockedReason").asString()).contains("the customer called");
    }
    queueHere.act("s", "resume", "");
    assertThat(texts(accept(queueHere, "s").receive(5, NOW))).containsExactly("m1", "m2");
  }

  @Test
  void aReleaseThereFreesTheSessionAndCountsNoAttempt() {
    send("s", "m1");
    var lease = accept(queueHere, "s");
    var inHand = lease.receive(1, NOW);
    queueThere.act("s", "release", "");
    assertProblem("session-lock-lost", () -> lease.complete(inHand));
    assertThat(accept(queueHere, "s").receive(1, NOW).get(0).attempt()).isEqualTo(1);
  }

  @Test
  void deadLettersMadeThereAreReplayedHereInOrder() {
    send("s", "m1", "m2", "m3");
    var lease = accept(queueHere, "s");
    lease.receive(1, NOW);
    queueThere.act("s", "deadLetterHead", "bad");
    assertProblem("session-lock-lost", lease::renew);
    queueHere.act("s", "deadLetterAll", "all bad");
    send("s", "m4");
    assertThat(queueThere.deadLetters(Map.of()).path("deadLetters")).hasSize(3);

    queueThere.replay(JsonNodeFactory.instance.objectNode().put("all", true));
    assertThat(texts(accept(queueHere, "s").receive(9, NOW)))
        .containsExactly("m1", "m2", "m3", "m4");
  }

  @TestInRealTime
  void anOwnerThatDiesCountsAnAttemptWhicheverServerItUsed() {
    queueHere.declare(QueueSettings.ordered().withLockDuration(Duration.ofSeconds(2)));
    send("s", "m1");
    var lease = accept(queueHere, "s");
    assertThat(lease.through(there).receive(1, NOW).get(0).attempt()).isEqualTo(1);
    // The owner sends nothing more, so its lease ends and its attempt fails.
    await()
        .atMost(SOON)
        .untilAsserted(() -> assertProblem("session-lock-lost", () -> lease.receive(1, NOW)));
    assertThat(accept(queueThere, "s").receive(1, NOW).get(0).attempt()).isEqualTo(2);
  }

  @Test
  void aChangeOfTheSettingsHereHoldsThere() {
    send("s", "m1");
    accept(queueThere, "s").close();
    queueHere.declare(QueueSettings.ordered().withLockDuration(Duration.ofHours(1)));
    var lease = accept(queueThere, "s");
    lease.renew();
    var left = Duration.between(java.time.Instant.now(), lease.lockedUntil());
    assertThat(left).isBetween(Duration.ofMinutes(50), Duration.ofMinutes(70));
  }

  @Test
  void aServerThatShutsDownLeavesItsLeasesToTheirOwners() {
    send("s", "m1", "m2");
    send("untouched", "m3");
    var lease = accept(queueHere, "s");
    var untouched = accept(queueHere, "untouched");
    var inHand = lease.receive(1, NOW);

    one.restart();

    var same = lease.through(there);
    same.complete(inHand);
    assertThat(texts(same.receive(5, NOW))).containsExactly("m2");
    assertThat(texts(untouched.through(there).receive(5, NOW))).containsExactly("m3");
    assertThat(texts(untouched.receive(5, NOW))).containsExactly("m3");
  }
}
