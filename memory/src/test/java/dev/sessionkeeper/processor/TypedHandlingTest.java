package dev.sessionkeeper.processor;

import static dev.sessionkeeper.SessionKeyExtractor.by;
import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Codec;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.sender.QueueSender;
import dev.sessionkeeper.testkit.Deliveries;
import dev.sessionkeeper.testkit.FakeSessionContext;
import dev.sessionkeeper.testkit.ProcessorProbe;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Values of the application from a sender to a handler. */
class TypedHandlingTest {
  private final Workbench bench = Workbench.ordered();

  /** An order as {@code customer:item}. */
  record Order(String customer, String item) {}

  private static final Codec<Order> ORDERS =
      new Codec<>() {
        @Override
        public Payload encode(Order order) {
          return Payload.text(order.customer() + ":" + order.item());
        }

        @Override
        public Order decode(Payload payload) {
          var parts = payload.asText().split(":");
          if (parts.length != 2) {
            throw new KeeperException.Rejected("Not an order: " + payload.asText());
          }
          return new Order(parts[0], parts[1]);
        }
      };

  private final QueueSender<Order> sender =
      QueueSender.<Order>to(bench.provider, Workbench.QUEUE, ORDERS).keyedBy(by(Order::customer));

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void valuesAreKeyedSentAndHandledInOrder() throws InterruptedException {
    var probe = new ProcessorProbe();
    var seen = new CopyOnWriteArrayList<Order>();
    assertThat(sender.send(new Order("c1", "tea"))).isInstanceOf(SendOutcome.Stored.class);
    sender.sendAll(List.of(new Order("c1", "cup"), new Order("c1", "milk")));

    try (var processor =
        bench
            .processor(
                TypedHandler.reading(
                    ORDERS,
                    (order, delivery, session) -> {
                      assertThat(session.id().value()).isEqualTo(order.customer());
                      seen.add(order);
                      return Settlement.complete();
                    }))
            .listener(probe)
            .build()
            .start()) {
      probe.awaitCompleted(3, Duration.ofSeconds(20));
    }

    assertThat(seen).extracting(Order::item).containsExactly("tea", "cup", "milk");
  }

  @Test
  void anUnreadableBodyIsADeadLetterAtItsFirstAttempt() throws Exception {
    bench.holds("a1");

    try (var processor =
        bench
            .processor(
                TypedHandler.reading(
                    ORDERS,
                    (order, delivery, session) -> {
                      throw new AssertionError("never called");
                    }))
            .build()
            .start()) {
      eventually().until(() -> bench.provider.stats(Workbench.QUEUE).deadLetters() == 1);
    }

    var letter =
        bench
            .provider
            .deadLetters(Workbench.QUEUE, Optional.empty(), Page.Request.first(1))
            .items()
            .get(0);
    assertThat(letter.reason()).isEqualTo("unreadable body");
    assertThat(letter.lastError()).contains("Not an order: a1");
    assertThat(letter.attempts()).isEqualTo(1);
  }

  @Test
  void aRejectionFromTheHandlerItselfIsAnOrdinaryFailure() {
    var handler =
        TypedHandler.reading(
            ORDERS,
            (order, delivery, session) -> {
              throw new KeeperException.Rejected("by the shop");
            });

    assertThatThrownBy(
            () ->
                handler.handle(
                    Deliveries.of("c1", ORDERS.encode(new Order("c1", "tea"))),
                    FakeSessionContext.of("c1")))
        .hasMessageContaining("by the shop");
  }

  @Test
  void moreCanBeSaidAboutOneMessage() {
    sender.send(new Order("c1", "tea"), message -> message.withId(MessageId.of("order-1")));

    assertThat(
            sender.send(new Order("c1", "tea"), message -> message.withId(MessageId.of("order-1"))))
        .isInstanceOf(SendOutcome.Duplicate.class);
  }

  @Test
  void aScheduledValueHasItsEarliestTime() {
    var clock = SettableClock.create();
    var scheduled = sender.time(clock);

    assertThat(scheduled.message(new Order("c1", "tea")).notBefore()).isEmpty();
    assertThat(scheduled.sendAfter(Duration.ofHours(1), new Order("c1", "tea")))
        .isInstanceOf(SendOutcome.Stored.class);
    eventually().until(() -> bench.provider.stats(Workbench.QUEUE).waitingSessions() == 1);
  }

  @Test
  void theKeyMayComeFromTheMessage() {
    var raw =
        QueueSender.to(bench.provider, Workbench.QUEUE, Codec.text())
            .keyedByMessage(by(message -> message.payload().asText()));

    assertThat(raw.message("c7").session().orElseThrow().value()).isEqualTo("c7");
    assertThatThrownBy(() -> raw.send(" ")).isInstanceOf(KeeperException.SessionModeMismatch.class);
  }

  @Test
  void aSendAnswersLater() {
    assertThat(sender.sendAsync(new Order("c1", "tea")).toCompletableFuture().join())
        .isInstanceOf(SendOutcome.Stored.class);
    bench.provider.close();
    assertThat(sender.sendAsync(new Order("c1", "cup")).toCompletableFuture())
        .failsWithin(Duration.ofSeconds(20))
        .withThrowableOfType(java.util.concurrent.ExecutionException.class)
        .withCauseInstanceOf(KeeperException.Closed.class);
  }

  @Test
  void anAsynchronousHandlerKeepsTheOrderOfItsSession() throws InterruptedException {
    var first = new CompletableFuture<Settlement>();
    var called = new CountDownLatch(1);
    bench.holds("a1", "a2");
    try (var processor =
        bench
            .processor(
                AsyncHandler.waiting(
                    (delivery, session) -> {
                      var text = bench.note(delivery);
                      called.countDown();
                      return text.equals("a1")
                          ? first
                          : CompletableFuture.completedFuture(Settlement.complete());
                    }))
            .build()
            .start()) {
      called.await();
      assertThat(bench.handled).containsExactly("a1");
      first.complete(Settlement.complete());
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a2");
  }

  @Test
  void aStageThatFailsIsAFailureWithItsOwnCause() {
    var handler =
        AsyncHandler.waiting(
            (delivery, session) ->
                CompletableFuture.failedFuture(new IllegalArgumentException("bad")));

    assertThatThrownBy(
            () -> handler.handle(Deliveries.of("a", Payload.text("x")), FakeSessionContext.of("a")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("bad");
  }
}
