package dev.sessionkeeper.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class SystemTimeSourceTest {
  private final TimeSource time = TimeSource.system();

  @Test
  void instantsHaveMicrosecondsSoThatStoresGiveThemBackEqual() {
    var now = time.instant();

    assertThat(now).isEqualTo(now.truncatedTo(ChronoUnit.MICROS));
  }

  @Test
  void aTimerRunsAfterItsDelay() throws InterruptedException {
    var ran = new CountDownLatch(1);
    long started = time.nanoTime();

    time.schedule(Duration.ofMillis(20), ran::countDown);

    assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(time.since(started)).isGreaterThanOrEqualTo(Duration.ofMillis(20));
  }

  @Test
  void aCancelledTimerDoesNotRunAndAFailingOneStopsNoOther() throws InterruptedException {
    var cancelledRan = new AtomicBoolean();
    var later = new CountDownLatch(1);

    time.schedule(Duration.ofMillis(20), () -> cancelledRan.set(true)).cancel();
    time.schedule(
        Duration.ofMillis(1),
        () -> {
          throw new IllegalStateException("a timer that fails");
        });
    time.schedule(Duration.ofMillis(40), later::countDown);

    assertThat(later.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(cancelledRan).isFalse();
  }
}
