package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.QUEUE;
import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A processor ends within its time and releases every lease. */
@Timeout(60)
class DrainTest {
  private static final Duration DRAIN = Duration.ofMinutes(1);
  private static final Duration GRACE = Duration.ofSeconds(1);

  private final Workbench bench = Workbench.ordered();
  // The drain waits by this clock; a test moves it at the right step of the drain.
  private final SettableClock clock = SettableClock.create();

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void whatRunsIsFinishedAndEverySessionIsGivenBack() throws Exception {
    bench.holds("a1", "a2", "b1");
    var running = new CountDownLatch(2);
    var goOn = new CountDownLatch(1);
    MessageHandler handler =
        (delivery, session) -> {
          running.countDown();
          goOn.await();
          bench.note(delivery);
          return Settlement.complete();
        };
    var processor = bench.processor(handler).build().start();
    running.await();
    var draining = CompletableFuture.supplyAsync(processor::drain);
    eventually().until(() -> processor.state() == SessionProcessor.State.DRAINING);
    goOn.countDown();

    var report = draining.get(10, TimeUnit.SECONDS);

    assertThat(report).isEqualTo(new DrainReport(2, List.of()));
    assertThat(bench.handled).containsExactlyInAnyOrder("a1", "b1");
    assertThat(bench.acceptElsewhere("a")).isInstanceOf(AcceptResult.Accepted.class);
    assertThat(bench.closeReasons()).containsOnly(CloseReason.SHUTDOWN);
    assertThat(processor.activeSessions()).isZero();
    assertThat(processor.drain()).isEqualTo(report);
  }

  @Test
  void waitingSlotsEndAtOnce() {
    var processor =
        bench
            .processor((delivery, session) -> Settlement.complete())
            .drainTimeout(DRAIN)
            .time(clock)
            .build()
            .start();

    // The clock stands still, so a wait for time would never end.
    assertTimeoutPreemptively(Duration.ofSeconds(30), processor::close);
  }

  @Test
  void aHandlerThatListensToItsInterruptIsReportedAndItsMessageComesAgain() throws Exception {
    bench.holds("a1");
    var running = new CountDownLatch(1);
    var interrupted = new CountDownLatch(1);
    MessageHandler handler =
        (delivery, session) -> {
          running.countDown();
          try {
            new CountDownLatch(1).await();
          } finally {
            interrupted.countDown();
          }
          return Settlement.complete();
        };
    var processor = bench.processor(handler).drainTimeout(DRAIN).time(clock).build().start();
    running.await();

    var draining = CompletableFuture.supplyAsync(processor::drain);
    drainUntil(interrupted, processor);
    var report = draining.get(20, TimeUnit.SECONDS);

    assertThat(report.unfinished()).containsExactly(SessionId.of("a"));
    assertThat(report.isClean()).isFalse();
    var again = bench.acceptElsewhere("a");
    assertThat(again).isInstanceOf(AcceptResult.Accepted.class);
    assertThat(bench.depth()).isEqualTo(1);
  }

  @Test
  void aHandlerThatFinishesWhenInterruptedIsSettled() throws Exception {
    bench.holds("a1");
    var running = new CountDownLatch(1);
    var interrupted = new CountDownLatch(1);
    MessageHandler handler =
        (delivery, session) -> {
          running.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.countDown();
            bench.note(delivery);
          }
          return Settlement.complete();
        };
    var processor = bench.processor(handler).drainTimeout(DRAIN).time(clock).build().start();
    running.await();

    var draining = CompletableFuture.supplyAsync(processor::drain);
    drainUntil(interrupted, processor);

    assertThat(draining.get(20, TimeUnit.SECONDS).isClean()).isTrue();
    assertThat(bench.depth()).isZero();
  }

  @Test
  void aHandlerThatIgnoresItsInterruptKeepsNeitherDrainNorLease() throws Exception {
    bench.holds("a1", "b1");
    var goOn = new CountDownLatch(1);
    var seen = new AtomicReference<SessionContext>();
    var running = new CountDownLatch(1);
    var interrupted = new CountDownLatch(1);
    MessageHandler handler =
        (delivery, session) -> {
          if (session.id().value().equals("b")) {
            return Settlement.complete();
          }
          seen.set(session);
          running.countDown();
          while (goOn.getCount() > 0) {
            try {
              goOn.await();
            } catch (InterruptedException e) {
              // The handler ignores the interrupt.
              interrupted.countDown();
            }
          }
          return Settlement.complete();
        };
    var processor = bench.processor(handler).drainTimeout(DRAIN).time(clock).build().start();
    running.await();
    eventually().until(() -> bench.depth() == 1);

    var draining = CompletableFuture.supplyAsync(processor::drain);
    drainUntil(interrupted, processor);
    eventually()
        .until(
            () -> {
              clock.advance(GRACE);
              return draining.isDone();
            });
    var report = draining.get();

    assertThat(report.unfinished()).containsExactly(SessionId.of("a"));
    assertThat(seen.get().isLockHeld()).isFalse();
    eventually().until(() -> bench.acceptElsewhere("a") instanceof AcceptResult.Accepted);
    goOn.countDown();
    eventually().until(() -> bench.closeReasons().contains(CloseReason.SHUTDOWN));
    assertThat(bench.depth()).as("the late settlement is not sent").isEqualTo(1);
  }

  @Test
  void handlersThatBurnAllProcessorsCannotKeepTheDrain() throws Exception {
    int many = Runtime.getRuntime().availableProcessors() + 1;
    for (int i = 0; i < many; i++) {
      bench.holds((char) ('a' + i) + "1");
    }
    var stop = new AtomicBoolean();
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          while (!stop.get()) {
            Thread.onSpinWait();
          }
          return Settlement.complete();
        };
    var processor = bench.processor(handler).drainTimeout(Duration.ofSeconds(1)).build().start();
    eventually().until(() -> bench.handled.size() >= many - 1);

    var report = processor.drain();
    stop.set(true);

    assertThat(report.unfinished()).hasSizeGreaterThanOrEqualTo(many - 1);
  }

  @Test
  void aProviderThatDoesNotAnswerToCloseCannotKeepTheDrain() throws Exception {
    bench.holds("a1");
    var never = new CountDownLatch(1);
    var provider =
        new TamperedProvider(bench.provider) {
          @Override
          HeldSession held(HeldSession session) {
            return new TamperedSession(session) {
              @Override
              public void close() {
                while (never.getCount() > 0) {
                  try {
                    never.await();
                  } catch (InterruptedException e) {
                    // The handler ignores the interrupt.
                  }
                }
                real.close();
              }
            };
          }
        };
    var processor =
        SessionProcessor.builder(
                provider,
                QUEUE,
                (delivery, session) -> {
                  bench.note(delivery);
                  return Settlement.complete();
                })
            .drainTimeout(Duration.ofMillis(500))
            .build()
            .start();
    eventually().until(() -> bench.handled.size() == 1);

    var report = processor.drain();

    assertThat(report.unfinished()).containsExactly(SessionId.of("a"));
    assertThat(processor.state()).isEqualTo(SessionProcessor.State.CLOSED);
    never.countDown();
  }

  @Test
  void anInterruptedDrainHurriesAndStillGivesEverySessionBack() throws Exception {
    bench.holds("a1");
    var running = new CountDownLatch(1);
    MessageHandler handler =
        (delivery, session) -> {
          running.countDown();
          new CountDownLatch(1).await();
          return Settlement.complete();
        };
    var processor = bench.processor(handler).drainTimeout(Duration.ofMinutes(5)).build().start();
    running.await();
    var report = new CompletableFuture<DrainReport>();
    var wasInterrupted = new AtomicBoolean();
    var drainer =
        Thread.ofPlatform()
            .start(
                () -> {
                  report.complete(processor.drain());
                  wasInterrupted.set(Thread.interrupted());
                });
    eventually().until(() -> processor.state() == SessionProcessor.State.DRAINING);
    drainer.interrupt();

    assertThat(report.get(20, TimeUnit.SECONDS).unfinished()).containsExactly(SessionId.of("a"));
    drainer.join();
    assertThat(wasInterrupted).isTrue();
    eventually().until(() -> bench.acceptElsewhere("a") instanceof AcceptResult.Accepted);
  }

  @Test
  void aHandlerCannotDrainItsOwnProcessorButMayCloseIt() {
    bench.holds("a1");
    var processor = new AtomicReference<SessionProcessor>();
    MessageHandler handler =
        (delivery, session) -> {
          eventually().until(() -> processor.get() != null);
          assertThatThrownBy(() -> processor.get().drain())
              .isInstanceOf(IllegalStateException.class);
          processor.get().close();
          bench.note(delivery);
          return Settlement.complete();
        };
    processor.set(bench.processor(handler).build().start());

    eventually().until(() -> processor.get().state() == SessionProcessor.State.CLOSED);

    assertThat(bench.handled).containsExactly("a1");
    assertThat(bench.depth()).isZero();
  }

  /** Lets the time pass for which a drain waits, but not the time reserved for releasing leases. */
  private void drainUntil(CountDownLatch interrupted, SessionProcessor processor)
      throws InterruptedException {
    eventually().until(() -> processor.state() == SessionProcessor.State.DRAINING);
    do {
      clock.advance(DRAIN.minus(GRACE));
      // Once is enough, unless the drain was not yet waiting.
    } while (!interrupted.await(2, TimeUnit.SECONDS));
  }
}
