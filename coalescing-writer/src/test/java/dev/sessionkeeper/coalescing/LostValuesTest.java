package dev.sessionkeeper.coalescing;

import static dev.sessionkeeper.coalescing.WriterFixture.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One test for each way in which a simpler batching writer lost, repeated or delayed values. */
class LostValuesTest {
  @Test
  @DisplayName("attempts are carried, so they end, and the drain ends with them")
  void attemptsAreCarriedAndEnd() {
    var policy = new RetryPolicy(4, Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0);
    var given = new WriterFixture(options().withRetry(policy));
    given.store.down = true;
    var times = new ArrayList<Long>();
    given.store.duringWrite = () -> times.add(given.clock.nanoTime() / 1_000_000);
    given.submit("a", 1);
    given.advance(60_000);
    assertThat(times).containsExactly(5L, 105L, 305L, 705L);
    var report = given.writer.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    given.advance(1_000);
    assertThat(report).isDone();
  }

  @Test
  @DisplayName("the retry of an older value never overwrites a newer one")
  void aRetryNeverOverwritesANewerValue() {
    var given = new WriterFixture();
    given.store.down = true;
    given.submit("a", 1);
    given.advance(5);
    given.store.down = false;
    // Another node writes the newer value while the older one waits for its retry here.
    given.store.inner.put("a", 2, "newer");
    given.advance(10_000);
    assertThat(given.store.stored("a")).isEqualTo(2);
  }

  @Test
  @DisplayName("a newer value that is submitted meanwhile replaces the one that waits")
  void aNewerValuePurgesTheRetryOfAnOlderOne() {
    var given = new WriterFixture();
    given.store.down = true;
    given.submit("a", 1);
    given.advance(5);
    given.store.down = false;
    given.submit("a", 2);
    given.store.attempts.clear();
    given.advance(10_000);
    assertThat(given.store.attemptedValues()).containsExactly("a@2");
  }

  @Test
  @DisplayName("the newest value is kept however long the store is away")
  void theNewestValueIsNotDroppedUnderBackpressure() {
    var given =
        new WriterFixture(options().withRoomFor(3, 1 << 20).withWhenFull(new WhenFull.Reject()));
    given.store.down = true;
    for (int event = 1; event <= 1_000; event++) {
      for (var stream : new String[] {"a", "b", "c"}) {
        given.submit(stream, event);
      }
      given.advance(10);
    }
    given.store.down = false;
    given.advance(10_000);
    assertThat(given.store.stored("a")).isEqualTo(1_000);
    assertThat(given.store.stored("c")).isEqualTo(1_000);
    assertThat(given.writer.metrics().rejected()).isZero();
  }

  @Test
  @DisplayName("a worker that dies is replaced, health shows it, nothing is lost")
  @Timeout(30)
  void aDeadWorkerIsReplaced() throws Exception {
    var store = new ScriptedStore();
    store.duringWrite =
        () -> {
          throw new OutOfMemoryError("for this test");
        };
    try (var writer = CoalescingWriter.create(store)) {
      var stage = writer.submit("a", 1, "v").toCompletableFuture();
      await().until(() -> writer.health().status() == WriterHealth.Status.DOWN);
      store.duringWrite = () -> {};
      assertThat(stage.get(20, TimeUnit.SECONDS)).isEqualTo(new Outcome.Durable(1));
      assertThat(writer.health().status()).isEqualTo(WriterHealth.Status.UP);
    }
  }

  @Test
  @DisplayName("a burst is coalesced by more than two although the store is fast")
  void aBurstIsCoalesced() {
    var given = new WriterFixture();
    for (int millis = 0; millis < 1_000; millis++) {
      given.submit("s" + millis % 3, millis);
      given.advance(1);
    }
    assertThat(given.writer.metrics().coalesceRatio()).isGreaterThan(1.5);
    for (int event = 0; event < 1_000; event++) {
      given.submit("burst" + event % 3, event);
    }
    given.advance(5);
    assertThat(given.flushes.getLast().submits()).isEqualTo(1_000);
    assertThat(given.writer.metrics().coalesceRatio()).isGreaterThan(2);
  }

  @Test
  @DisplayName("one bad value fails alone, an unknown key is no success")
  void oneBadValueFailsAlone() {
    var store = new ScriptedStore(MemoryLastValueStore.ofKnownKeys());
    store.inner.put("good", 0, "");
    store.inner.put("bad", 0, "");
    store.poison.add("bad@1");
    var given = new WriterFixture(options(), store);
    var good = given.submit("good", 1);
    var bad = given.submit("bad", 1);
    var unknown = given.submit("unknown", 1);
    given.advance(5);
    assertThat(good.outcome()).isEqualTo(new Outcome.Durable(1));
    assertThat(bad.outcome()).isInstanceOf(Outcome.Dead.class);
    assertThat(unknown.outcome()).isEqualTo(new Outcome.NotFound());
  }

  @Test
  @DisplayName("a key has one retry, however many of its values fail")
  void aKeyHasOneRetry() {
    var given = new WriterFixture();
    given.store.down = true;
    for (int event = 1; event <= 500; event++) {
      given.submit("a", event);
      given.submit("b", event);
      given.advance(60);
      assertThat(given.writer.metrics().retryQueueDepth()).isLessThanOrEqualTo(2);
    }
    assertThat(given.writer.metrics().bytes()).isLessThan(2_000);
  }

  @Test
  @DisplayName("the signal to slow down comes at 80 %")
  void theSignalComesAtEightyPercent() {
    var given = new WriterFixture(options().withRoomFor(100, 1 << 20).withBatchSize(1_000));
    for (int i = 0; i < 79; i++) {
      given.submit("k" + i, 1);
    }
    assertThat(given.writer.isUnderPressure()).isFalse();
    given.submit("k79", 1);
    assertThat(given.writer.isUnderPressure()).isTrue();
    assertThat(given.pressure).containsExactly(true);
  }

  @Test
  @DisplayName("the last event of a stream is saved though no other follows")
  void theLastEventIsSaved() {
    var given = new WriterFixture();
    var submitted = given.submit("a", 1);
    given.advance(5);
    assertThat(submitted.outcome()).isEqualTo(new Outcome.Durable(1));
  }

  @Test
  @DisplayName("waiting for other values inside of a callback holds nobody up")
  @Timeout(30)
  void waitingInsideOfACallbackHoldsNobodyUp() throws Exception {
    try (var writer = CoalescingWriter.builder(new ScriptedStore()).options(options()).build()) {
      var done = new ArrayList<java.util.concurrent.CompletableFuture<Outcome>>();
      for (int i = 0; i < 200; i++) {
        var other = "other" + i;
        done.add(
            writer
                .submit("k" + i % 7, i, "v")
                .thenApply(first -> writer.submit(other, 1, "v").toCompletableFuture().join())
                .toCompletableFuture());
      }
      for (var outcome : done) {
        assertThat(outcome.get(20, TimeUnit.SECONDS).isSaved()).isTrue();
      }
    }
  }
}
