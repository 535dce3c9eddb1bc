package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.QUEUE;
import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A provider whose settlements become durable later. */
@Timeout(60)
class SettlementTest {
  private final Workbench bench = Workbench.ordered();
  private final Queue<CompletableFuture<Void>> open = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final TamperedProvider provider =
      new TamperedProvider(bench.provider) {
        @Override
        HeldSession held(HeldSession session) {
          return new TamperedSession(session) {
            @Override
            public CompletionStage<Void> settle(List<Settled> settlements) {
              var durable = new CompletableFuture<Void>();
              open.add(durable);
              return real.settle(settlements).thenCombine(durable, (done, later) -> done);
            }

            @Override
            public void close() {
              closed.set(true);
              real.close();
            }
          };
        }
      };

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void theWorkerGoesOnWhileSettlementsAreInFlightAndWaitsForThemBeforeItCloses() {
    bench.holds("a1", "a2", "a3");
    try (var processor = start()) {
      eventually().until(() -> bench.handled.size() == 3);
      eventually().until(() -> open.size() == 3);
      eventually().pollDelay(Duration.ofMillis(300)).until(() -> true);
      assertThat(closed).as("closed before the settlements were durable").isFalse();
      open.forEach(durable -> durable.complete(null));
      eventually().until(closed::get);
      assertThat(processor.drain().isClean()).isTrue();
    }
    assertThat(bench.closeReasons()).containsExactly(CloseReason.IDLE);
  }

  @Test
  void notMoreThanABoundedNumberIsInFlight() {
    for (int i = 0; i < 400; i++) {
      bench.holds("a" + i);
    }
    try (var processor = start()) {
      eventually().until(() -> open.size() >= 256);
      eventually().pollDelay(Duration.ofMillis(200)).until(() -> true);
      assertThat(open.size()).isLessThanOrEqualTo(258);
      while (bench.depth() > 0 || !open.isEmpty()) {
        var next = open.poll();
        if (next != null) {
          next.complete(null);
        }
      }
    }
    assertThat(bench.handled).hasSize(400);
  }

  @Test
  void aSettlementThatIsLostInterruptsTheHandlerOfTheNextMessage() throws Exception {
    bench.holds("a1", "a2");
    var interrupted = new AtomicBoolean();
    MessageHandler handler =
        (delivery, session) -> {
          if (bench.note(delivery).equals("a2")) {
            open.remove()
                .completeExceptionally(new KeeperException.LockLost("session a", session.epoch()));
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              interrupted.set(true);
            }
          }
          return Settlement.complete();
        };
    try (var processor =
        SessionProcessor.builder(provider, QUEUE, handler)
            .listener(bench.events::add)
            .drainTimeout(Duration.ofSeconds(1))
            .build()
            .start()) {
      eventually().until(() -> !bench.closeReasons().isEmpty());
      assertThat(processor.state()).isEqualTo(SessionProcessor.State.RUNNING);
    }
    assertThat(interrupted).isTrue();
    assertThat(bench.closeReasons()).startsWith(CloseReason.LOCK_LOST);
  }

  private SessionProcessor start() {
    return SessionProcessor.builder(
            provider,
            QUEUE,
            (delivery, session) -> {
              bench.note(delivery);
              return Settlement.complete();
            })
        .sessionIdleTimeout(Duration.ofMillis(50))
        .maxMessagesPerHold(1000)
        .listener(bench.events::add)
        .build()
        .start();
  }
}
