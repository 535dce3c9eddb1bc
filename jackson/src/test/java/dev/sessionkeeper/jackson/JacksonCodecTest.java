package dev.sessionkeeper.jackson;

import static dev.sessionkeeper.SessionKeyExtractor.by;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.processor.TypedHandler;
import dev.sessionkeeper.sender.QueueSender;
import dev.sessionkeeper.testkit.ProcessorProbe;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

class JacksonCodecTest {
  private static final JacksonCodec<Order> ORDERS = JacksonCodec.of(Order.class);

  record Order(String customer, BigDecimal total, Instant placed) {}

  private static final Order ORDER =
      new Order("c-42", new BigDecimal("12.30"), Instant.parse("2026-02-03T04:05:06Z"));

  @Test
  void aValueComesBackAsItWas() {
    var body = ORDERS.encode(ORDER);

    assertThat(body.form()).isEqualTo(Payload.Form.JSON);
    assertThat(body.asText()).contains("\"total\":12.30");
    assertThat(ORDERS.decode(body)).isEqualTo(ORDER);
  }

  @Test
  void jsonIsReadInWhateverFormItWasSent() {
    var json = ORDERS.encode(ORDER);

    assertThat(ORDERS.decode(Payload.text(json.asText()))).isEqualTo(ORDER);
    assertThat(ORDERS.decode(Payload.bytes(json.toBytes(), "application/json"))).isEqualTo(ORDER);
  }

  @Test
  void aBodyThatIsNotTheTypeIsRefusedWithTheCause() {
    for (var body : List.of("{", "[]", "null", "{\"total\":\"much\"}", "")) {
      assertThatThrownBy(() -> ORDERS.decode(Payload.json(body)))
          .as(body)
          .isInstanceOf(KeeperException.Rejected.class)
          .hasMessageContaining(Order.class.getName());
    }
  }

  @Test
  void aValueThatJacksonCannotWriteIsRefused() {
    assertThatThrownBy(() -> JacksonCodec.of(Object.class).encode(new Loop()))
        .isInstanceOf(KeeperException.Rejected.class)
        .hasMessageContaining("cannot be written as JSON");
  }

  /** Contains itself, so it cannot be written as JSON. */
  static final class Loop {
    public Loop getSelf() {
      return this;
    }
  }

  @Test
  void genericTypesAreReadByTheirType() {
    var codec =
        JacksonCodec.ofType(
            JsonMapper.builder().build(), new TypeReference<List<Order>>() {}.getType());

    assertThat(codec.decode(codec.encode(List.of(ORDER)))).isEqualTo(List.of(ORDER));
  }

  @Test
  void typedMessagesAreSentAndHandled() throws InterruptedException {
    var queue = QueueName.of("orders");
    var seen = new ArrayList<Order>();
    var probe = new ProcessorProbe();
    try (var provider = MemoryQueueProvider.create()) {
      provider.declare(queue, QueueSettings.ordered());
      QueueSender.<Order>to(provider, queue, ORDERS).keyedBy(by(Order::customer)).send(ORDER);
      try (var processor =
          SessionProcessor.builder(
                  provider,
                  queue,
                  TypedHandler.reading(
                      ORDERS,
                      (order, delivery, session) -> {
                        seen.add(order);
                        return Settlement.complete();
                      }))
              .listener(probe)
              .build()
              .start()) {
        probe.awaitCompleted(1, Duration.ofSeconds(20));
      }
    }
    assertThat(seen).containsExactly(ORDER);
  }
}
