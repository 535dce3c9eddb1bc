package dev.sessionkeeper.examples;

import static dev.sessionkeeper.SessionKeyExtractor.by;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.jackson.JacksonCodec;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.FailureRule;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.processor.TypedHandler;
import dev.sessionkeeper.sender.QueueSender;
import dev.sessionkeeper.testkit.Deliveries;
import dev.sessionkeeper.testkit.FakeSessionContext;
import dev.sessionkeeper.testkit.ProcessorProbe;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The samples of the how-to pages. */
class HowToTest {
  record Order(String customer, String item) {}

  private final MemoryQueueProvider provider = MemoryQueueProvider.create();
  private final QueueName queue = QueueName.of("orders");

  @BeforeEach
  void declare() {
    provider.declare(queue, QueueSettings.ordered());
  }

  @AfterEach
  void close() {
    provider.close();
  }

  /** Counts the messages of a session in its state. */
  private final MessageHandler handler =
      (delivery, session) -> {
        var count = session.state().version() + 1;
        session.writeStateOnSettle(
            new SessionState.Write(
                Long.toString(count).getBytes(StandardCharsets.UTF_8), session.state().version()));
        return Settlement.complete();
      };

  @Test
  void aTypedProcessor() {
    List<String> shipped = new CopyOnWriteArrayList<>();
    // region typed-processor
    var orders = JacksonCodec.of(Order.class);
    var sender = QueueSender.<Order>to(provider, queue, orders).keyedBy(by(Order::customer));
    sender.send(new Order("c-42", "tea"));
    sender.send(new Order("c-42", "cup"), message -> message.withId(MessageId.of("order-2")));

    var processor =
        SessionProcessor.builder(
                provider,
                queue,
                TypedHandler.reading(
                    orders,
                    (order, delivery, session) -> {
                      shipped.add(order.item());
                      return Settlement.complete();
                    }))
            .rule(FailureRule.deadLetterOn(IllegalArgumentException.class))
            .build()
            .start();
    // endregion
    Awaitility.await().until(() -> shipped.size() == 2);
    processor.close();
    assertThat(shipped).containsExactly("tea", "cup");
  }

  @Test
  void aHandlerWithoutAQueue() throws Exception {
    // region fake-session
    var session = FakeSessionContext.of("c-42");
    var first = Deliveries.of("c-42", Payload.text("tea"));

    assertThat(handler.handle(first, session)).isEqualTo(Settlement.complete());
    assertThat(session.pendingWrite()).isPresent();
    session.settle();
    assertThat(session.state().bytes()).asString().isEqualTo("1");

    session.loseLock();
    assertThatThrownBy(() -> handler.handle(Deliveries.again(first), session))
        .isInstanceOf(KeeperException.LockLost.class);
    // endregion
  }

  @Test
  void aHandlerWithAProcessor() throws Exception {
    // region probe
    var probe = new ProcessorProbe();
    try (var processor =
        SessionProcessor.builder(provider, queue, handler).listener(probe).build().start()) {
      provider.send(queue, Message.of(SessionId.of("c-42"), Payload.text("tea")));
      probe.awaitCompleted(1, Duration.ofSeconds(10));
    }
    assertThat(probe.failures()).isEmpty();
    // endregion
  }
}
