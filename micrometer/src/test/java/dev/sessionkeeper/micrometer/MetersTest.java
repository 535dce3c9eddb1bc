package dev.sessionkeeper.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.testkit.SettableClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MetersTest {
  private static final QueueName ORDERS = QueueName.of("orders");

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final MemoryQueueProvider provider = MemoryQueueProvider.create();

  @BeforeEach
  void declare() {
    provider.declare(ORDERS, QueueSettings.ordered());
  }

  @AfterEach
  void close() {
    provider.close();
  }

  private void send(String session, String text) {
    provider.send(ORDERS, Message.of(SessionId.of(session), Payload.text(text)));
  }

  private double count(String outcome) {
    return registry
        .get("sessionkeeper.messages.handled")
        .tags("queue", "orders", "listener", "ledger", "outcome", outcome)
        .timer()
        .count();
  }

  @Test
  void aProcessorCountsWhatItHandledByOutcome() {
    send("a", "fine");
    send("a", "bad");
    send("b", "fine");
    var meters = ProcessorMeters.of(registry, ORDERS, "ledger");
    try (var processor =
        SessionProcessor.builder(
                provider,
                ORDERS,
                (delivery, session) -> {
                  if (delivery.payload().asText().equals("bad")) {
                    throw new IllegalStateException("bad");
                  }
                  return Settlement.complete();
                })
            .onFailure((delivery, failure) -> Settlement.deadLetter("bad"))
            .sessionIdleTimeout(Duration.ofMillis(20))
            .listener(meters)
            .build()
            .start()) {
      Awaitility.await().until(() -> provider.stats(ORDERS).depth() == 0);
      Awaitility.await()
          .until(() -> registry.get("sessionkeeper.sessions.held").timer().count() >= 2);
    }

    assertThat(count("complete")).isEqualTo(2);
    assertThat(count("dead_letter")).isEqualTo(1);
    assertThat(count("retry")).isZero();
    assertThat(registry.get("sessionkeeper.errors").tag("phase", "handle").counter().count())
        .isEqualTo(1);
    assertThat(registry.get("sessionkeeper.sessions.active").gauge().value()).isZero();
    assertThat(registry.get("sessionkeeper.order.violations").counter().count()).isZero();
  }

  @Test
  void aQueueShowsItsNumbersAndAsksTheStoreOncePerSecond() {
    var clock = SettableClock.create();
    QueueMeters.of(provider, ORDERS, clock).bindTo(registry);
    assertThat(depth()).isZero();
    send("a", "one");

    assertThat(depth()).isZero();
    clock.advance(Duration.ofSeconds(1));
    assertThat(depth()).isEqualTo(1);
    assertThat(registry.get("sessionkeeper.queue.sessions.ready").gauge().value()).isEqualTo(1);
  }

  @Test
  void aStoreThatDoesNotAnswerShowsAsNoNumber() {
    QueueMeters.of(provider, ORDERS, SettableClock.create()).bindTo(registry);
    provider.close();

    assertThat(depth()).isNaN();
  }

  private double depth() {
    return registry.get("sessionkeeper.queue.depth").gauge().value();
  }
}
