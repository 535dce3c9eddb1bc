package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RetryTest {
  private final AtomicInteger calls = new AtomicInteger();

  @Test
  void aCallIsRepeatedUntilItSucceeds() throws IOException {
    var answer = Retry.call(RetryPolicy.atOnce(3), IOException.class::isInstance, () -> third("a"));

    assertThat(answer).isEqualTo("a");
    assertThat(calls).hasValue(3);
  }

  @Test
  void theFailureOfTheLastAttemptIsThrown() {
    assertThatThrownBy(
            () ->
                Retry.call(RetryPolicy.atOnce(2), IOException.class::isInstance, () -> third("a")))
        .isInstanceOf(IOException.class)
        .hasMessage("attempt 2");
  }

  @Test
  void anotherFailureIsNotRepeated() {
    assertThatThrownBy(() -> Retry.call(RetryPolicy.atOnce(3), e -> false, () -> third("a")))
        .hasMessage("attempt 1");
    assertThat(calls).hasValue(1);
  }

  @Test
  void anInterruptEndsTheWait() {
    Thread.currentThread().interrupt();

    assertThatThrownBy(
            () ->
                Retry.call(
                    RetryPolicy.endless(Duration.ofHours(1), Duration.ofHours(1)),
                    e -> true,
                    () -> third("a")))
        .isInstanceOf(KeeperException.Unavailable.class);
    assertThat(Thread.interrupted()).isTrue();
  }

  private String third(String answer) throws IOException {
    int call = calls.incrementAndGet();
    if (call < 3) {
      throw new IOException("attempt " + call);
    }
    return answer;
  }
}
