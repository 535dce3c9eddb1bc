package dev.sessionkeeper.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {
  @ParameterizedTest
  @CsvSource({
    "250ms,PT0.25S",
    "10s,PT10S",
    "5m,PT5M",
    "PT5M,PT5M",
    "24h,PT24H",
    "PT24H,PT24H",
    "30d,PT720H",
    "P30D,PT720H",
    "P1DT2H3M4.5S,PT26H3M4.5S",
    "0s,PT0S"
  })
  void bothFormsAreRead(String text, Duration meant) {
    assertThat(DurationText.parse(text)).isEqualTo(meant);
  }

  // A key of the configuration was once documented as ISO 8601 and written in short form.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "5",
        "5 m",
        "5M",
        "m",
        "-5m",
        "5m5s",
        "5.5m",
        "PT",
        "P",
        "PT5",
        "pt5m",
        "PT-5M",
        "-PT5M",
        "5 minutes",
        "1w",
        "٥m",
        "9999999999999999999d",
        "PT99999999999999999999H"
      })
  void anythingElseIsRefused(String text) {
    assertThatThrownBy(() -> DurationText.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("must be a duration such as 5m or PT5M");
  }

  @ParameterizedTest
  @ValueSource(strings = {"999999999999d", "36501d", "PT90000000H"})
  void whatIsTooLongIsToldTheLimit(String text) {
    assertThatThrownBy(() -> DurationText.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("must be a duration of at most 36500d");
  }

  @ParameterizedTest
  @CsvSource({
    "PT3S, 3s",
    "PT0.25S, 250ms",
    "PT1.5S, 1.5s",
    "PT1M30S, 1m30s",
    "PT20M, 20m",
    "PT26H, 1d2h",
    "PT0S, 0ms"
  })
  void aDurationIsWrittenAsAPersonWouldWriteIt(Duration duration, String text) {
    assertThat(DurationText.readable(duration)).isEqualTo(text);
  }
}
