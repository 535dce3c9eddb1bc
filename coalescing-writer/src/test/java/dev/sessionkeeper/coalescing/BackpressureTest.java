package dev.sessionkeeper.coalescing;

import static dev.sessionkeeper.coalescing.WriterFixture.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class BackpressureTest {
  private static final WhenFull BLOCK = new WhenFull.Block(Duration.ofMillis(100));

  private static WriterFixture full(WhenFull policy) {
    var given = new WriterFixture(options().withRoomFor(5, 1 << 20).withWhenFull(policy));
    given.store.down = true;
    for (int i = 0; i < 5; i++) {
      given.submit("k" + i, 1);
    }
    given.advance(5);
    return given;
  }

  @Test
  void aFullWriterRejectsAtOnceWhenItIsToldTo() {
    var given = full(new WhenFull.Reject());
    assertThat(given.submit("new", 1).outcome()).isEqualTo(new Outcome.Rejected(Outcome.Why.FULL));
    assertThat(given.writer.metrics().rejected()).isEqualTo(1);
  }

  @Test
  void aNewerValueOfAHeldKeyNeedsNoRoom() {
    var given = full(new WhenFull.Reject());
    var submitted = given.submit("k3", 2);
    given.store.down = false;
    given.advance(10_000);
    assertThat(submitted.outcome()).isEqualTo(new Outcome.Durable(2));
  }

  @Test
  void whatIsRetryingCountsAsHeld() {
    var given = full(new WhenFull.Reject());
    assertThat(given.writer.metrics().retryQueueDepth()).isEqualTo(5);
    assertThat(given.submit("new", 1).outcome()).isEqualTo(new Outcome.Rejected(Outcome.Why.FULL));
  }

  @Test
  void aBlockedCallerGoesOnAsSoonAsThereIsRoom() {
    var given = full(BLOCK);
    var blocked = inBackground(given, "new");
    await().until(() -> given.clock.pendingTimers() == 2);
    assertThat(blocked).isNotDone();
    given.store.down = false;
    // One timer is the caller's timeout of 100 ms from now, the other the retry after 100 ms.
    given.advance(99);
    await().until(() -> given.store.stored("k0") == 1 || step(given));
    await().until(blocked::isDone);
    given.advance(50);
    assertThat(blocked.join().toCompletableFuture()).isCompletedWithValue(new Outcome.Durable(1));
  }

  private static boolean step(WriterFixture given) {
    given.advance(1);
    return false;
  }

  @Test
  void aBlockedCallerIsRejectedWhenItsTimeIsUp() {
    var given = full(BLOCK);
    var blocked = inBackground(given, "new");
    await().until(() -> given.clock.pendingTimers() == 2);
    given.advance(100);
    assertThat(blocked.join().toCompletableFuture())
        .isCompletedWithValue(new Outcome.Rejected(Outcome.Why.FULL));
    assertThat(given.writer.metrics().backpressureTimeouts()).isEqualTo(1);
  }

  @Test
  void aBlockedCallerIsRejectedWhenTheWriterCloses() {
    var given = full(BLOCK);
    var blocked = inBackground(given, "new");
    await().until(() -> given.clock.pendingTimers() == 2);
    given.writer.closeAsync(Duration.ofSeconds(1));
    assertThat(blocked.join().toCompletableFuture())
        .isCompletedWithValue(new Outcome.Rejected(Outcome.Why.CLOSED));
  }

  @Test
  void aCallerThatRunsByItselfWritesAtThePaceOfTheStore() {
    var given = full(new WhenFull.CallerRuns());
    assertThat(given.submit("new", 1).outcome())
        .isEqualTo(new Outcome.Rejected(Outcome.Why.UNAVAILABLE));
    given.store.down = false;
    assertThat(given.submit("new", 1).outcome()).isEqualTo(new Outcome.Durable(1));
    assertThat(given.store.stored("new")).isEqualTo(1);
    given.advance(10_000);
    assertThat(given.store.stored("k4")).isEqualTo(1);
  }

  @Test
  void bytesAreBoundedToo() {
    var given =
        new WriterFixture(options().withRoomFor(100, 2_000).withWhenFull(new WhenFull.Reject()));
    var big = "x".repeat(400);
    assertThat(outcome(given.writer.submit("a", 1, big))).isNull();
    assertThat(outcome(given.writer.submit("b", 1, big)))
        .isEqualTo(new Outcome.Rejected(Outcome.Why.FULL));
    assertThat(outcome(given.writer.submit("c", 1, "x".repeat(2_000))))
        .isEqualTo(new Outcome.Rejected(Outcome.Why.TOO_LARGE));
    given.advance(5);
    assertThat(given.writer.metrics().bytes()).isZero();
    assertThat(outcome(given.writer.submit("b", 1, big))).isNull();
  }

  @Test
  void theSignalComesAtEightyPercentAndGoes() {
    var given = new WriterFixture(options().withRoomFor(10, 1 << 20).withBatchSize(100));
    for (int i = 0; i < 7; i++) {
      given.submit("k" + i, 1);
    }
    assertThat(given.pressure).isEmpty();
    assertThat(given.writer.isUnderPressure()).isFalse();
    given.submit("k7", 1);
    assertThat(given.pressure).containsExactly(true);
    assertThat(given.writer.health().status()).isEqualTo(WriterHealth.Status.DEGRADED);
    given.advance(5);
    assertThat(given.pressure).containsExactly(true, false);
    assertThat(given.writer.health().status()).isEqualTo(WriterHealth.Status.UP);
  }

  private static CompletableFuture<CompletionStage<Outcome>> inBackground(
      WriterFixture given, String key) {
    var answer = new CompletableFuture<CompletionStage<Outcome>>();
    Thread.ofVirtual().start(() -> answer.complete(given.writer.submit(key, 1, "v")));
    return answer;
  }

  private static @org.jspecify.annotations.Nullable Outcome outcome(
      CompletionStage<Outcome> stage) {
    return stage.toCompletableFuture().getNow(null);
  }
}
