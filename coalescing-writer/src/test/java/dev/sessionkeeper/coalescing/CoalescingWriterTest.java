package dev.sessionkeeper.coalescing;

import static dev.sessionkeeper.coalescing.WriterFixture.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class CoalescingWriterTest {
  private final WriterFixture given = new WriterFixture();

  @Test
  void aValueWaitsForItsLingerAndIsThenDurable() {
    var submitted = given.submit("a", 1);
    given.advance(4);
    assertThat(given.store.attempts).isEmpty();
    assertThat(submitted.outcome()).isNull();
    given.advance(1);
    assertThat(given.store.stored("a")).isEqualTo(1);
    assertThat(submitted.outcome()).isEqualTo(new Outcome.Durable(1));
  }

  @Test
  void aFullBatchIsWrittenAtOnce() {
    for (int i = 0; i < 10; i++) {
      given.submit("k" + i, 1);
    }
    assertThat(given.store.attempts).hasSize(1);
    assertThat(given.store.attempts.getFirst()).hasSize(10);
  }

  @Test
  void onlyTheNewestValueOfAKeyIsWrittenAndAllSubmitsLearnOfIt() {
    var first = given.submit("a", 1);
    var second = given.submit("a", 2);
    var third = given.submit("a", 3);
    given.advance(5);
    assertThat(given.store.attemptedValues()).containsExactly("a@3");
    assertThat(first.outcome()).isEqualTo(new Outcome.Durable(3));
    assertThat(second.outcome()).isEqualTo(new Outcome.Durable(3));
    assertThat(third.outcome()).isEqualTo(new Outcome.Durable(3));
    assertThat(given.writer.metrics().eventsCoalesced()).isEqualTo(2);
    assertThat(given.writer.metrics().coalesceRatio()).isEqualTo(3);
    assertThat(given.flushes.getFirst().submits()).isEqualTo(3);
  }

  @Test
  void anOlderVersionThatComesLateChangesNothing() {
    given.submit("a", 5);
    var late = given.submit("a", 4);
    given.advance(5);
    assertThat(given.store.attemptedValues()).containsExactly("a@5");
    assertThat(late.outcome()).isEqualTo(new Outcome.Durable(5));
  }

  @Test
  void aVersionThatTheStoreHasIsSuperseded() {
    given.store.inner.put("a", 9, "from elsewhere");
    var submitted = given.submit("a", 5);
    given.advance(5);
    assertThat(submitted.outcome()).isEqualTo(new Outcome.Superseded());
    assertThat(given.store.stored("a")).isEqualTo(9);
  }

  @Test
  void aValueThatComesDuringAWriteIsInTheNextOne() {
    var later = new ArrayList<WriterFixture.Submitted>();
    given.store.duringWrite =
        () -> {
          if (later.isEmpty()) {
            later.add(given.submit("a", 2));
            later.add(given.submit("a", 1));
          }
        };
    var first = given.submit("a", 1);
    given.advance(5);
    assertThat(first.outcome()).isEqualTo(new Outcome.Durable(1));
    assertThat(later.getFirst().outcome()).isNull();
    assertThat(given.writer.pending("a")).get().extracting("version").isEqualTo(2L);
    given.advance(5);
    assertThat(given.store.attemptedValues()).containsExactly("a@1", "a@2");
    assertThat(later.getFirst().outcome()).isEqualTo(new Outcome.Durable(2));
  }

  @Test
  void aKeyIsNeverInTwoWritesAtOnce() {
    var inFlight = new ArrayDeque<Runnable>();
    var clock = given.clock;
    var writer =
        CoalescingWriter.builder(given.store)
            .options(options())
            .time(clock)
            .executor(inFlight::add)
            .build();
    writer.submit("a", 1, "a@1");
    clock.advance(Duration.ofMillis(5));
    assertThat(inFlight).hasSize(1);
    for (int i = 0; i < 30; i++) {
      writer.submit("a", 2 + i, "later");
      writer.submit("k" + i, 1, "k");
      clock.advance(Duration.ofMillis(50));
    }
    assertThat(inFlight).as("the first worker has not run yet, so no second may start").hasSize(1);
    writer.closeAsync(Duration.ZERO);
  }

  @Test
  void missedTicksAreSkippedAndNotCaughtUp() {
    given.store.duringWrite = () -> given.clock.jumpWallClock(Duration.ofHours(1));
    given.submit("a", 1);
    given.advance(60_000);
    given.submit("a", 2);
    given.advance(60_000);
    assertThat(given.store.attempts).as("one write for each value, none for the hours").hasSize(2);
    assertThat(given.clock.pendingTimers()).as("an idle writer has no timer").isZero();
  }

  @Test
  void theLingerFollowsTheTimeThatWritesTake() {
    var linger = new AdaptLinger(Duration.ofMillis(5), Duration.ofMillis(50));
    for (int i = 0; i < 50; i++) {
      linger.observe(Duration.ofMillis(20), true);
    }
    assertThat(linger.nanos()).isBetween(15_000_000L, 20_000_000L);
    linger.observe(Duration.ofMillis(1), false);
    assertThat(linger.nanos()).isEqualTo(50_000_000L);
    for (int i = 0; i < 50; i++) {
      linger.observe(Duration.ofMillis(1), true);
    }
    assertThat(linger.nanos()).isEqualTo(5_000_000L);
  }

  @Test
  void aMillionSubmitsToOneKeyWhileTheStoreIsDownShareOneStage() {
    given.store.down = true;
    var first = given.submit("a", 1);
    given.advance(5);
    var stages = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 2; i < 1_000; i++) {
      stages.add(given.writer.submit("a", i, "v"));
    }
    assertThat(stages).hasSize(1);
    given.advance(60_000);
    given.store.down = false;
    given.advance(10_000);
    assertThat(first.outcome()).isEqualTo(new Outcome.Durable(999));
  }

  @Test
  void roundsOfAnOutageLeaveNoWaitersBehind() {
    given.store.down = true;
    var stages = new HashSet<WriterFixture.Submitted>();
    long[] version = {1};
    given.store.duringWrite = () -> stages.add(given.submit("a", ++version[0]));
    stages.add(given.submit("a", 1));
    given.advance(600_000);
    assertThat(given.store.attempts).as("many rounds").hasSizeGreaterThan(100);
    assertThat(stages).as("stages over all rounds").hasSizeLessThan(4);
    given.store.down = false;
    given.store.duringWrite = () -> {};
    given.advance(10_000);
    assertThat(given.store.stored("a")).isEqualTo(version[0]);
    assertThat(stages)
        .allSatisfy(
            submitted ->
                assertThat(submitted.outcome()).isEqualTo(new Outcome.Durable(version[0])));
  }

  @Test
  void nobodyCanCompleteTheStageForOthers() {
    var mine = given.submit("a", 1);
    mine.stage().toCompletableFuture().cancel(true);
    var theirs = given.submit("a", 2);
    given.advance(5);
    assertThat(theirs.outcome()).isEqualTo(new Outcome.Durable(2));
  }

  @Test
  void whatFollowsAStageMaySubmitAndThrow() {
    var next = new CompletableFuture<Outcome>();
    given
        .submit("a", 1)
        .stage()
        .thenRun(
            () -> {
              given.submit("b", 1).stage().thenAccept(next::complete);
              throw new IllegalStateException("a caller's own fault");
            });
    given.advance(50);
    assertThat(next).isCompletedWithValue(new Outcome.Durable(1));
  }

  @Test
  void wrongOptionsAreRefusedWithNameAndValue() {
    assertThatThrownBy(() -> options().withBatchSize(0))
        .hasMessage("batchSize must be at least 1, was 0");
    assertThatThrownBy(() -> options().withLinger(Duration.ofMillis(9), Duration.ofMillis(8)))
        .hasMessageContaining("maxLinger must be at least linger (PT0.009S), was PT0.008S");
    assertThatThrownBy(() -> new WhenFull.Block(Duration.ZERO)).hasMessageContaining("timeout");
  }
}
