package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.QUEUE;
import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.OperableSessions.Act;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests each poison policy after the last attempt of a message. */
@Timeout(60)
class PoisonTest {
  private static final RetryPolicy QUICK =
      new RetryPolicy(3, Duration.ofMillis(1), 30, Duration.ofMillis(30), 0.25);

  private Workbench bench = Workbench.ordered();

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void theMessageIsSetAsideAndTheSessionGoesOn() {
    bench.holds("a1", "a2");
    try (var processor = bench.processor(this::failOnA1).retry(QUICK).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a1", "a1", "a2");
    assertThat(bench.provider.deadLetters(QUEUE, Optional.empty(), Page.Request.first(10)).items())
        .singleElement()
        .satisfies(
            dead -> {
              assertThat(dead.message().payload().asText()).isEqualTo("a1");
              assertThat(dead.attempts()).isEqualTo(3);
              assertThat(dead.reason()).isEqualTo("max delivery count reached");
              assertThat(dead.lastError()).contains("IllegalStateException: a1 is poison");
            });
  }

  @Test
  void theSessionIsParkedWithEverythingInItUntilItIsResumed() throws InterruptedException {
    bench.holds("a1", "a2", "b1");
    try (var processor =
        bench
            .processor(this::failOnA1)
            .retry(QUICK)
            .poisonPolicy(PoisonPolicy.PARK_SESSION)
            .build()
            .start()) {
      eventually().until(() -> isSetAside("a") && depthIs(2));
      assertThat(bench.handled).containsOnlyOnce("b1").doesNotContain("a2");

      bench.provider.act(QUEUE, SessionId.of("a"), Act.DEAD_LETTER_HEAD, "test");
      bench.provider.act(QUEUE, SessionId.of("a"), Act.RESUME, "test");
      eventually().until(() -> bench.handled.contains("a2"));
    }
  }

  @Test
  void aBlockedSessionIsTriedOnAndOn() {
    bench.holds("a1", "a2", "b1");
    try (var processor =
        bench
            .processor(this::failOnA1)
            .retry(QUICK)
            .poisonPolicy(PoisonPolicy.BLOCK)
            .build()
            .start()) {
      eventually().until(() -> bench.handled.stream().filter("a1"::equals).count() > 6);
    }
    assertThat(bench.handled).contains("b1").doesNotContain("a2");
    assertThat(bench.depth()).isEqualTo(2);
  }

  @Test
  void theProcessorStopsAndKeepsNothing() throws InterruptedException {
    bench.holds("a1", "a2");
    var processor =
        bench
            .processor(this::failOnA1)
            .retry(QUICK)
            .poisonPolicy(PoisonPolicy.STOP)
            .build()
            .start();

    eventually().until(() -> processor.state() == SessionProcessor.State.CLOSED);

    assertThat(bench.handled).containsExactly("a1", "a1", "a1");
    assertThat(bench.depth()).isEqualTo(2);
    assertThat(bench.acceptElsewhere("a")).isInstanceOf(AcceptResult.Accepted.class);
  }

  @Test
  void theQueueSaysHowOftenAndWhatThenUnlessTheProcessorDoes() {
    bench =
        Workbench.with(
            QueueSettings.ordered()
                .withMaxDeliveryCount(1)
                .withPoisonPolicy(PoisonPolicy.PARK_SESSION));
    bench.holds("a1");
    try (var processor = bench.processor(this::failOnA1).build().start()) {
      assertThat(processor.options().retry().maxAttempts()).isEqualTo(1);
      assertThat(processor.options().poisonPolicy()).contains(PoisonPolicy.PARK_SESSION);
      eventually().until(() -> isSetAside("a"));
    }
    assertThat(bench.handled).containsExactly("a1");
  }

  /**
   * Returns whether the session was set aside. Inspects first, because an accept would take the
   * session away from the processor.
   */
  private boolean isSetAside(String session) throws InterruptedException {
    return bench.isParked(session)
        && bench.acceptElsewhere(session) instanceof AcceptResult.SetAside;
  }

  @Test
  void parkingIsRefusedWhereItCannotBe() {
    var provider =
        new TamperedProvider(bench.provider) {
          @Override
          public Capabilities capabilities() {
            return new Capabilities("weak", Limits.DEFAULT, false, false, false, Map.of());
          }
        };
    assertThatThrownBy(
            () ->
                SessionProcessor.builder(provider, QUEUE, this::failOnA1)
                    .poisonPolicy(PoisonPolicy.PARK_SESSION)
                    .build())
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("the provider weak cannot park sessions");

    bench.holds("a1");
    MessageHandler parks =
        (delivery, session) -> {
          bench.note(delivery);
          return Settlement.park("please");
        };
    try (var processor =
        SessionProcessor.builder(provider, QUEUE, parks).retry(QUICK).build().start()) {
      eventually().until(() -> bench.provider.stats(QUEUE).deadLetters() == 1);
    }
    assertThat(bench.handled).hasSize(3);
  }

  @Test
  void aMessageThatWaitsForItsRetryDoesNotBlockTheSlot() {
    bench.holds("a1", "b1");
    MessageHandler handler =
        (delivery, session) ->
            bench.note(delivery).equals("a1")
                ? Settlement.retryAfter(Duration.ofMinutes(5))
                : Settlement.complete();
    try (var processor = bench.processor(handler).maxConcurrentSessions(1).build().start()) {
      eventually().until(() -> bench.handled.contains("b1"));
    }
    assertThat(bench.handled).containsExactly("a1", "b1");
    assertThat(bench.closeReasons()).startsWith(CloseReason.ERROR);
  }

  private boolean depthIs(long expected) {
    return bench.depth() == expected;
  }

  private Settlement failOnA1(Delivery delivery, SessionContext session) {
    if (bench.note(delivery).equals("a1")) {
      throw new IllegalStateException("a1 is poison");
    }
    return Settlement.complete();
  }
}
