package dev.sessionkeeper.processor.traps;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.processor.SessionProcessor;
import java.time.Duration;
import java.util.EnumSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Our processor falls into no trap; every trap catches a processor with its bug. */
@Timeout(120)
@Tag("slow")
class TrapsTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofSeconds(2);

  @ParameterizedTest
  @EnumSource(Bug.class)
  void theProcessorDoesNotFallIntoTheTrap(Bug bug) throws Exception {
    new Traps(TrapsTest::ours, LONG).check(bug);
  }

  @ParameterizedTest
  @EnumSource(Bug.class)
  void aNaiveProcessorWithoutTheBugDoesNotFallEither(Bug bug) {
    assertThatCode(() -> naive(EnumSet.noneOf(Bug.class), LONG).check(bug))
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @EnumSource(Bug.class)
  void theTrapCatchesTheBug(Bug bug) {
    assertThatThrownBy(() -> naive(EnumSet.of(bug), SHORT).check(bug))
        .isInstanceOf(AssertionError.class);
  }

  private static Traps naive(EnumSet<Bug> bugs, Duration patience) {
    return new Traps(trial -> new NaiveProcessor(trial, bugs), patience);
  }

  private static AutoCloseable ours(Trial trial) {
    return SessionProcessor.builder(trial.provider(), Traps.QUEUE, trial.handler())
        .hooks(trial.hooks())
        .maxConcurrentSessions(trial.slots())
        .prefetch(trial.prefetch())
        .sessionIdleTimeout(trial.idle())
        .retry(new RetryPolicy(Trial.ATTEMPTS, trial.retry(), 1, trial.retry(), 0))
        .drainTimeout(Duration.ofSeconds(1))
        .build()
        .start();
  }
}
