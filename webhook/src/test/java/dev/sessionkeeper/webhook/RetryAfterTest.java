package dev.sessionkeeper.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryAfterTest {
  private static final Instant NOW = Instant.parse("1994-11-06T08:49:00Z");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0|PT0S",
        "1|PT1S",
        "120|PT2M",
        "86400|PT24H",
        "86401|PT24H",
        "99999999999999999999999|PT24H",
        "Sun, 06 Nov 1994 08:49:37 GMT|PT37S",
        "Sun Nov  6 08:49:37 1994|PT37S",
        "Sun, 06 Nov 1994 08:48:37 GMT|PT0S",
        "Mon, 06 Nov 2023 08:48:37 GMT|PT24H"
      })
  void secondsAndDatesAreUnderstood(String header, Duration wait) {
    assertThat(RetryAfter.parse(Optional.of(header), Optional.empty(), NOW)).contains(wait);
  }

  @Test
  void theOldDateFormIsUnderstood() {
    var now = Instant.parse("2026-11-06T08:49:00Z");
    assertThat(
            RetryAfter.parse(Optional.of("Friday, 06-Nov-26 08:49:37 GMT"), Optional.empty(), now))
        .contains(Duration.ofSeconds(37));
  }

  @Test
  void aDateIsCountedFromTheReceiversOwnClock() {
    assertThat(
            RetryAfter.parse(
                Optional.of("Sun, 06 Nov 2011 08:49:37 GMT"),
                Optional.of("Sun, 06 Nov 2011 08:49:07 GMT"),
                NOW))
        .contains(Duration.ofSeconds(30));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "-1", "1.5", "soon", "PT5S", "Sun, 06 Nov", "Sun, 99 Nov 1994 08:49:37 GMT"})
  void nonsenseIsNoWait(String header) {
    assertThat(RetryAfter.parse(Optional.of(header), Optional.empty(), NOW)).isEmpty();
    assertThat(RetryAfter.parse(Optional.empty(), Optional.empty(), NOW)).isEmpty();
  }
}
