package dev.sessionkeeper.coalescing;

import static dev.sessionkeeper.coalescing.WriterFixture.options;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FailuresTest {
  private static final RetryPolicy THREE_ATTEMPTS =
      new RetryPolicy(3, Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0);

  @Test
  void poisonIsFoundByHalvesAndTheOthersAreWritten() {
    var given = new WriterFixture();
    given.store.poison.add("k3@1");
    given.store.poison.add("k8@1");
    var submitted = new ArrayList<WriterFixture.Submitted>();
    for (int i = 0; i < 10; i++) {
      submitted.add(given.submit("k" + i, 1));
    }
    for (int i = 0; i < 10; i++) {
      var outcome = submitted.get(i).outcome();
      if (i == 3 || i == 8) {
        assertThat(outcome).isInstanceOf(Outcome.Dead.class);
      } else {
        assertThat(outcome).isEqualTo(new Outcome.Durable(1));
      }
    }
    assertThat(given.store.inner.dead())
        .extracting(buried -> buried.entry().value())
        .containsExactly("k3@1", "k8@1");
    assertThat(given.store.inner.dead().getFirst().cause()).contains("Poison: k3@1");
    assertThat(given.writer.metrics().dead()).isEqualTo(2);
  }

  @Test
  void aGoodValueAfterPoisonIsWritten() {
    var given = new WriterFixture();
    given.store.poison.add("a@1");
    given.submit("a", 1);
    given.advance(5);
    given.submit("a", 2);
    given.advance(50);
    assertThat(given.store.stored("a")).isEqualTo(2);
  }

  @Test
  void poisonThatCannotBeSetAsideYetIsKeptUntilItCan() {
    var given = new WriterFixture();
    given.store.poison.add("a@1");
    given.store.graveyardDown = true;
    var submitted = given.submit("a", 1);
    given.advance(1_000);
    assertThat(submitted.outcome()).isNull();
    given.store.graveyardDown = false;
    given.advance(10_000);
    assertThat(submitted.outcome()).isInstanceOf(Outcome.Dead.class);
    assertThat(given.store.inner.dead()).hasSize(1);
    assertThat(given.store.attempts).as("the poison itself is not tried again").hasSize(1);
  }

  @Test
  void anUnknownKeyIsToldApartFromSuccess() {
    var store = new ScriptedStore(MemoryLastValueStore.ofKnownKeys());
    store.inner.put("known", 0, "");
    var given = new WriterFixture(options(), store);
    var known = given.submit("known", 1);
    var unknown = given.submit("unknown", 1);
    given.advance(5);
    assertThat(known.outcome()).isEqualTo(new Outcome.Durable(1));
    assertThat(unknown.outcome()).isEqualTo(new Outcome.NotFound());
    assertThat(given.writer.metrics().notFound()).isEqualTo(1);
    assertThat(given.writer.metrics().written()).isEqualTo(1);
  }

  @Test
  void retriesComeInTheOrderOfTheirDueTimes() {
    var stripe = new Stripe<String, String>(new Capacity(100, 1 << 20), options(), new Random(1));
    for (var key : List.of("third", "first", "second", "alsoSecond")) {
      stripe.offer(new LastValueStore.Entry<>(key, 1, key), 1, 0);
    }
    var taken = stripe.take(Duration.ofMillis(5).toNanos());
    stripe.fail(taken.get(0), "down", 300);
    stripe.fail(taken.get(1), "down", 100);
    stripe.fail(taken.get(2), "down", 200);
    stripe.fail(taken.get(3), "down", 200);
    long firstDelay = Duration.ofMillis(100).toNanos();
    assertThat(stripe.take(99 + firstDelay)).isEmpty();
    assertThat(stripe.take(100 + firstDelay)).extracting(slot -> slot.key).containsExactly("first");
    assertThat(stripe.take(900 + firstDelay))
        .extracting(slot -> slot.key)
        .containsExactly("second", "alsoSecond", "third");
  }

  @Test
  void delaysGrowWithTheAttemptsAndAreCapped() {
    var given = new WriterFixture();
    given.store.down = true;
    var times = new ArrayList<Long>();
    given.store.duringWrite = () -> times.add(given.clock.nanoTime() / 1_000_000);
    given.submit("a", 1);
    given.advance(30_000);
    assertThat(gaps(times)).startsWith(100L, 200L, 400L, 800L, 1_600L, 3_200L, 5_000L, 5_000L);
  }

  @Test
  void usedUpAttemptsEndInTheDeadTableAndNotInNothing() {
    var given = new WriterFixture(options().withRetry(THREE_ATTEMPTS));
    given.store.down = true;
    var submitted = given.submit("a", 1);
    given.advance(60_000);
    assertThat(given.store.attempts).hasSize(3);
    assertThat(given.writer.metrics().retryExhausted()).isEqualTo(1);
    assertThat(submitted.outcome()).as("not yet: the dead table is down as well").isNull();
    given.store.down = false;
    given.advance(10_000);
    assertThat(submitted.outcome())
        .isInstanceOfSatisfying(
            Outcome.Dead.class, dead -> assertThat(dead.cause()).contains("All 3 attempts"));
    assertThat(given.store.inner.dead()).hasSize(1);
  }

  @Test
  void aNewerValueTakesOverTheAttemptsOfAFailedOneButNotItsVerdict() {
    var given = new WriterFixture(options().withRetry(THREE_ATTEMPTS));
    given.store.down = true;
    given.submit("a", 1);
    given.advance(60_000);
    var newer = given.submit("a", 2);
    given.store.down = false;
    given.advance(10_000);
    assertThat(newer.outcome()).isEqualTo(new Outcome.Durable(2));
    assertThat(given.store.inner.dead()).isEmpty();
  }

  @Test
  void aWorkerThatDiesIsReplacedAndHealthShowsIt() {
    var given = new WriterFixture();
    given.store.duringWrite =
        () -> {
          throw new StackOverflowError("a bug in the store");
        };
    var submitted = given.submit("a", 1);
    given.advance(5);
    assertThat(given.writer.health().status()).isEqualTo(WriterHealth.Status.DOWN);
    assertThat(given.writer.health().detail()).contains("StackOverflowError");
    assertThat(given.writer.metrics().workerRestarts()).isEqualTo(1);
    given.store.duringWrite = () -> {};
    given.advance(200);
    assertThat(submitted.outcome()).isEqualTo(new Outcome.Durable(1));
    assertThat(given.writer.health().status()).isEqualTo(WriterHealth.Status.UP);
  }

  @Test
  void anExecutorThatRefusesAWorkerLosesNothing() {
    var given = new WriterFixture();
    var refuse = new boolean[] {true};
    try (var writer =
        CoalescingWriter.builder(given.store)
            .options(options())
            .time(given.clock)
            .executor(
                task -> {
                  if (refuse[0]) {
                    throw new java.util.concurrent.RejectedExecutionException("no thread");
                  }
                  task.run();
                })
            .build()) {
      writer.submit("a", 1, "v");
      given.advance(20);
      assertThat(writer.health().status()).isEqualTo(WriterHealth.Status.DOWN);
      refuse[0] = false;
      given.advance(1_000);
      assertThat(given.store.stored("a")).isEqualTo(1);
    }
  }

  private static List<Long> gaps(List<Long> times) {
    var gaps = new ArrayList<Long>();
    for (int i = 1; i < times.size(); i++) {
      gaps.add(times.get(i) - times.get(i - 1));
    }
    return gaps;
  }
}
