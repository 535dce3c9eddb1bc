package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A paused processor finishes its current messages and accepts nothing more. */
class PauseTest {
  private final Workbench bench = Workbench.ordered();

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void aPausedProcessorFinishesItsMessageGivesTheSessionBackAndResumes()
      throws InterruptedException {
    var inHandler = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    bench.holds("a1", "a2");
    try (var processor =
        bench
            .processor(
                (delivery, session) -> {
                  inHandler.countDown();
                  goOn.await();
                  bench.note(delivery);
                  return Settlement.complete();
                })
            .build()
            .start()) {
      inHandler.await();
      processor.pause();
      processor.pause();
      assertThat(processor.state()).isEqualTo(SessionProcessor.State.PAUSED);
      goOn.countDown();

      eventually().until(() -> processor.activeSessions() == 0);
      assertThat(bench.handled).containsExactly("a1");
      var elsewhere = bench.acceptElsewhere("a");
      assertThat(elsewhere).isInstanceOf(AcceptResult.Accepted.class);
      ((AcceptResult.Accepted) elsewhere).session().close();

      processor.resume();
      processor.resume();
      assertThat(processor.state()).isEqualTo(SessionProcessor.State.RUNNING);
      eventually().until(() -> bench.depth() == 0);
      assertThat(bench.handled).containsExactly("a1", "a2");
    }
  }

  @Test
  void concurrencyThatChangesDuringAPauseHoldsAfterIt() {
    try (var processor =
        bench.processor((delivery, session) -> Settlement.complete()).build().start()) {
      processor.pause();
      processor.changeConcurrency(3);
      assertThat(processor.state()).isEqualTo(SessionProcessor.State.PAUSED);
      processor.resume();
      assertThat(processor.options().maxConcurrentSessions()).isEqualTo(3);
    }
  }

  @Test
  void aPausedProcessorCanBeClosedAndAClosedOneIsNotPaused() {
    var processor = bench.processor((delivery, session) -> Settlement.complete()).build();
    assertThatThrownBy(processor::pause)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is NEW and cannot be paused");
    processor.start();
    processor.pause();

    assertThat(processor.drain().isClean()).isTrue();

    assertThat(processor.state()).isEqualTo(SessionProcessor.State.CLOSED);
    assertThatThrownBy(processor::resume)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is CLOSED and cannot be resumed");
  }
}
