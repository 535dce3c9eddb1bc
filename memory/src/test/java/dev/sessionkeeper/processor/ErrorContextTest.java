package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionHooks.ErrorContext;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A failure is reported with its queue, message, attempt and lease. */
class ErrorContextTest {
  private Workbench bench = Workbench.ordered();
  private final List<ErrorContext> contexts = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    bench.close();
  }

  private final FailurePolicy twice =
      new FailurePolicy() {
        @Override
        public Settlement onFailure(Delivery delivery, Exception failure) {
          throw new IllegalStateException("the one with the context is called");
        }

        @Override
        public Settlement onFailure(Delivery delivery, Exception failure, ErrorContext context) {
          contexts.add(context);
          return context.attempt() < 2
              ? Settlement.retryAfter(Duration.ofMillis(1))
              : Settlement.deadLetter("enough");
        }
      };

  private void handleAll() {
    try (var processor =
        bench
            .processor(
                (delivery, session) -> {
                  assertThat(session.lockedUntil()).isAfter(delivery.enqueuedAt());
                  throw new IllegalStateException("always");
                })
            .onFailure(twice)
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }
  }

  private void twoAttemptsAreTold(String message) {
    assertThat(contexts).extracting(ErrorContext::attempt).containsExactly(1, 2);
    assertThat(contexts)
        .allSatisfy(
            context -> {
              assertThat(context.queue()).isEqualTo(Workbench.QUEUE);
              assertThat(context.phase()).isEqualTo(Phase.HANDLE);
              assertThat(context.delivery().orElseThrow().id()).isEqualTo(MessageId.of(message));
              assertThat(context.lockedUntil().orElseThrow())
                  .isAfter(context.delivery().orElseThrow().enqueuedAt());
            });
  }

  @Test
  void theFailurePolicyOfASessionIsToldEverything() {
    bench.holds("a1");
    handleAll();
    twoAttemptsAreTold("a1");
    assertThat(contexts.get(0).session()).contains(SessionId.of("a"));
  }

  @Test
  void aRuleIsAskedBeforeThePolicyAndLeavesItWhatItDoesNotKnow() {
    bench.holds("a1", "b1");
    try (var processor =
        bench
            .processor(
                (delivery, session) -> {
                  throw session.id().value().equals("a")
                      ? new IllegalArgumentException("known")
                      : new IllegalStateException("unknown");
                })
            .rule(FailureRule.deadLetterOn(IllegalArgumentException.class))
            .onFailure(twice)
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(contexts).allMatch(context -> context.session().get().value().equals("b"));
    assertThat(contexts).extracting(ErrorContext::attempt).containsExactly(1, 2);
    assertThat(bench.provider.stats(Workbench.QUEUE).deadLetters()).isEqualTo(2);
  }

  @Test
  void theFailurePolicyOfAnUnorderedQueueIsToldEverything() {
    bench.close();
    bench = Workbench.with(QueueSettings.unordered());
    bench.holdsUnordered(1);
    handleAll();
    twoAttemptsAreTold("m0");
  }
}
