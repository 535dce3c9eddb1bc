package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

@Tag("slow")
class TestInRealTimeTest {

  @Test
  void aStallExcusesAFailureAndTheTestIsTriedAgain() {
    SpoiledByStalls.stalls.set(2);
    var summary = run(SpoiledByStalls.class);

    assertThat(summary.getTestsAbortedCount()).isEqualTo(2);
    assertThat(summary.getTestsSucceededCount()).isEqualTo(1);
    assertThat(summary.getTestsFailedCount()).isZero();
  }

  @Test
  void aFailureThatComesWithEveryTryStands() {
    SpoiledByStalls.stalls.set(100);
    var summary = run(SpoiledByStalls.class);

    assertThat(summary.getTestsAbortedCount()).isEqualTo(4);
    assertThat(summary.getTestsFailedCount()).isEqualTo(1);
  }

  @Test
  void aFailureWithoutAStallStandsAtOnce() {
    var summary = run(Broken.class);

    assertThat(summary.getTestsFailedCount()).isEqualTo(1);
    assertThat(summary.getTestsStartedCount() - summary.getTestsAbortedCount()).isEqualTo(1);
  }

  private static TestExecutionSummary run(Class<?> tests) {
    var listener = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build(),
            listener);
    return listener.getSummary();
  }

  /** A test class whose name the build does not match; only the tests above run it. */
  static final class SpoiledByStalls {
    static final AtomicInteger stalls = new AtomicInteger();

    @TestInRealTime
    void test() {
      if (stalls.getAndDecrement() > 0) {
        WatchForStalls.pretendOne();
        throw new AssertionError("a lease ran out");
      }
    }
  }

  /** A test class whose name the build does not match; only the tests above run it. */
  static final class Broken {
    @TestInRealTime
    void test() {
      throw new AssertionError("a bug");
    }
  }
}
