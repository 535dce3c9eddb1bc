package dev.sessionkeeper.coalescing;

import static dev.sessionkeeper.coalescing.WriterFixture.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CloseTest {
  private final WriterFixture given = new WriterFixture();

  @Test
  void closingWritesWhatWaitsWithoutItsLinger() {
    var submitted = given.submit("a", 1);
    var report = given.writer.close(Duration.ofSeconds(5));
    assertThat(report.isComplete()).isTrue();
    assertThat(submitted.outcome()).isEqualTo(new Outcome.Durable(1));
    assertThat(given.clock.pendingTimers()).isZero();
  }

  @Test
  void aClosedWriterRejectsAndSaysWhy() {
    given.writer.close(Duration.ofSeconds(5));
    assertThat(given.submit("a", 1).outcome()).isEqualTo(new Outcome.Rejected(Outcome.Why.CLOSED));
    assertThat(given.writer.health().status()).isEqualTo(WriterHealth.Status.DOWN);
  }

  @Test
  void closingRepeatsUntilTheStoreIsBack() {
    given.store.down = true;
    for (int i = 0; i < 25; i++) {
      given.submit("k" + i, 1);
    }
    given.advance(20_000);
    var report = given.writer.closeAsync(Duration.ofSeconds(5)).toCompletableFuture();
    given.advance(2_000);
    assertThat(report).isNotDone();
    given.store.down = false;
    given.advance(100);
    assertThat(report).isCompletedWithValueMatching(CloseReport::isComplete);
    assertThat(given.store.stored("k24")).isEqualTo(1);
  }

  @Test
  void closingWithTheStoreDownEndsAtTheDeadlineAndNamesWhatIsLeft() {
    given.store.down = true;
    var submitted = given.submit("a", 7);
    given.advance(5);
    given.submit("a", 8);
    var report = given.writer.closeAsync(Duration.ofSeconds(5)).toCompletableFuture();
    given.advance(4_999);
    assertThat(report).isNotDone();
    given.advance(1);
    assertThat(report).isDone();
    var unsaved = report.join().unsaved();
    assertThat(unsaved).hasSize(1);
    assertThat(unsaved.getFirst().key()).isEqualTo("a");
    assertThat(unsaved.getFirst().version()).isEqualTo(8);
    assertThat(unsaved.getFirst().attempts()).isGreaterThan(10);
    assertThat(unsaved.getFirst().cause()).contains("SK-101");
    await().until(() -> submitted.outcome() != null);
    assertThat(submitted.outcome()).isInstanceOf(Outcome.Undrained.class);
    assertThat(given.writer.metrics().bytes()).isZero();
  }

  @Test
  void closingTwiceGivesTheSameReport() {
    given.store.down = true;
    given.submit("a", 1);
    var first = given.writer.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    given.advance(1_000);
    assertThat(given.writer.close(Duration.ofDays(1))).isSameAs(first.join());
  }

  @Test
  @Timeout(30)
  void aWriteThatHangsDoesNotHoldCloseUp() throws Exception {
    var hang = new CountDownLatch(1);
    var store = new ScriptedStore();
    var inside = new CountDownLatch(1);
    store.duringWrite =
        () -> {
          inside.countDown();
          awaitQuietly(hang);
        };
    var writer =
        CoalescingWriter.builder(store).options(options()).time(TimeSource.system()).build();
    var stage = writer.submit("a", 1, "v").toCompletableFuture();
    writer.submit("a", 2, "v");
    assertThat(inside.await(10, TimeUnit.SECONDS)).isTrue();
    var began = System.nanoTime();
    var report = writer.close(Duration.ofMillis(200));
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10));
    assertThat(report.unsaved()).isNotEmpty();
    assertThat(stage.get(10, TimeUnit.SECONDS)).isInstanceOf(Outcome.Undrained.class);
    hang.countDown();
    await().untilAsserted(() -> assertThat(store.stored("a")).isPositive());
    assertThat(writer.metrics().queueDepth()).isZero();
  }

  @Test
  void outcomesOfAllSubmitsAreKnownAfterClose() {
    var submitted = new ArrayList<WriterFixture.Submitted>();
    for (int i = 0; i < 50; i++) {
      submitted.add(given.submit("k" + i % 17, i));
    }
    given.writer.close(Duration.ofSeconds(5));
    assertThat(submitted).allMatch(s -> s.outcome() != null && s.outcome().isSaved());
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
