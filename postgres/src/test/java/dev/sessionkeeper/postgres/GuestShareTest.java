package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How many sessions other processes get from the one that reads a queue. */
class GuestShareTest {
  private final GuestShare share = new GuestShare(seen(0, 0, 0));

  private static GuestShare.Seen seen(long millis, long taken, long heldMillis) {
    return new GuestShare.Seen(
        Duration.ofMillis(millis).toNanos(), taken, Duration.ofMillis(heldMillis).toNanos());
  }

  @Test
  void halfOfWhatWaitsIsGivenWhileHandlersTakeTime() {
    assertThat(share.most(seen(1000, 2560, 2560 * 100), 101)).isEqualTo(51);
    assertThat(share.most(seen(2000, 2560 + 20, 2560 * 100 + 20), 1)).isEqualTo(1);
    assertThat(share.most(seen(2001, 2580, 0), 10_000)).isEqualTo(256);
  }

  @Test
  void fewAreGivenWhileSessionsFlyBy() {
    assertThat(share.most(seen(1000, 16_000, 16_000), 10_000)).isEqualTo(256);
    share.gave(990);
    assertThat(share.most(seen(1100, 17_000, 17_000), 10_000)).as("of a sixteenth").isEqualTo(10);
    share.gave(10);
    assertThat(share.most(seen(1200, 18_000, 18_000), 10_000)).isZero();
    assertThat(share.most(seen(1250, 19_000, 19_000), 10_000)).as("the next part").isEqualTo(187);
  }
}
