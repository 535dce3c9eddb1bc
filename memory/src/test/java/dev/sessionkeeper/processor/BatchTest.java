package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several messages of one session in one call of the handler. */
class BatchTest {
  private static final RetryPolicy SOON =
      new RetryPolicy(3, Duration.ofMillis(1), 1, Duration.ofMillis(1), 0);

  private Workbench bench = Workbench.ordered();
  private final List<List<String>> calls = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    bench.close();
  }

  private SessionProcessor.Builder batches(int most, BatchHandler handler) {
    return SessionProcessor.batches(
            bench.provider,
            Workbench.QUEUE,
            most,
            (batch, session) -> {
              calls.add(texts(batch));
              return handler.handle(batch, session);
            })
        .retry(SOON)
        .drainTimeout(Duration.ofSeconds(5))
        .listener(bench.events::add);
  }

  private static List<String> texts(List<Delivery> batch) {
    return batch.stream().map(each -> each.payload().asText()).toList();
  }

  private BatchSettlement note(List<Delivery> batch) {
    batch.forEach(bench::note);
    return BatchSettlement.complete();
  }

  @Test
  void aCallHasMessagesOfOneSessionInOrderAndNoMoreThanTheMost() {
    bench.holds("a1", "b1", "a2", "a3", "b2", "a4", "a5");

    try (var processor = batches(3, (batch, session) -> note(batch)).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }

    assertThat(calls)
        .containsExactlyInAnyOrder(
            List.of("a1", "a2", "a3"), List.of("a4", "a5"), List.of("b1", "b2"));
    assertThat(bench.eventsOf(ProcessorEvent.HandlingEnded.class)).hasSize(7);
    assertThat(bench.eventsOf(ProcessorEvent.OrderViolated.class)).isEmpty();
  }

  @Test
  void aBeginningIsCompletedAndTheRestComesAgainWithoutAnAttempt() {
    bench.holds("a1", "a2", "a3", "a4");
    var first = new AtomicBoolean(true);
    var attempts = new CopyOnWriteArrayList<Integer>();

    try (var processor =
        batches(
                4,
                (batch, session) -> {
                  batch.forEach(each -> attempts.add(each.attempt()));
                  return first.getAndSet(false) ? BatchSettlement.upTo(2) : note(batch);
                })
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }

    assertThat(calls).first().isEqualTo(List.of("a1", "a2", "a3", "a4"));
    assertThat(bench.handled).containsExactly("a3", "a4");
    assertThat(attempts).containsOnly(1);
  }

  @Test
  void aFailedBatchIsHandedOutOneByOneSoThatThePolicyMeetsTheMessageThatFails() {
    bench.holds("a1", "a2", "a3", "a4");

    try (var processor =
        batches(
                4,
                (batch, session) -> {
                  if (texts(batch).contains("a3")) {
                    throw new IllegalStateException("a3 is poison");
                  }
                  return note(batch);
                })
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }

    assertThat(bench.handled).containsExactly("a1", "a2", "a4");
    assertThat(calls).contains(List.of("a1"), List.of("a2"), List.of("a3"), List.of("a4"));
    assertThat(
            bench
                .provider
                .deadLetters(Workbench.QUEUE, Optional.empty(), Page.Request.first(10))
                .items())
        .extracting(letter -> letter.message().payload().asText())
        .containsExactly("a3");
  }

  @Test
  void theMessageBehindTheBeginningEndsAsTheHandlerSays() {
    bench.holds("a1", "a2", "a3");
    var first = new AtomicBoolean(true);

    try (var processor =
        batches(
                3,
                (batch, session) ->
                    first.getAndSet(false)
                        ? BatchSettlement.upTo(1, Settlement.deadLetter("bad line"))
                        : note(batch))
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }

    assertThat(calls).containsExactly(List.of("a1", "a2", "a3"), List.of("a3"));
    assertThat(bench.provider.stats(Workbench.QUEUE).deadLetters()).isEqualTo(1);
  }

  @Test
  void theStateIsWrittenWithTheSettlementOfTheWholeBatch() throws InterruptedException {
    bench.holds("a1", "a2");

    try (var processor =
        batches(
                2,
                (batch, session) -> {
                  session.writeStateOnSettle(
                      new SessionState.Write(
                          String.join("+", texts(batch)).getBytes(StandardCharsets.UTF_8), 0));
                  return BatchSettlement.complete();
                })
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }

    bench.holds("a3");
    var accepted = (dev.sessionkeeper.spi.AcceptResult.Accepted) bench.acceptElsewhere("a");
    assertThat(accepted.session().state().bytes()).asString().isEqualTo("a1+a2");
  }

  @Test
  void completingMoreThanTheBatchIsAFailureOfTheHandler() {
    bench.holds("a1", "a2");

    try (var processor =
        batches(2, (batch, session) -> BatchSettlement.upTo(batch.size() + 1)).build().start()) {
      eventually().until(() -> bench.provider.stats(Workbench.QUEUE).deadLetters() == 2);
    }
  }

  @Test
  void aBatchNeedsSessions() {
    bench.close();
    bench = Workbench.with(QueueSettings.unordered());

    assertThatThrownBy(() -> batches(2, (batch, session) -> note(batch)).build())
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("messages of one session");
    assertThatThrownBy(() -> batches(0, (batch, session) -> note(batch)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("maxBatch must be at least 1, was 0");
  }
}
