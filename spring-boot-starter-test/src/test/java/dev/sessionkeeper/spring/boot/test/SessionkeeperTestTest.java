package dev.sessionkeeper.spring.boot.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.SessionkeeperTemplate;
import dev.sessionkeeper.spring.boot.test.Orders.OrderPlaced;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

@SessionkeeperTest(
    properties = {
      "sessionkeeper.queues.orders.mode=ordered",
      "sessionkeeper.queues.orders.max-delivery-count=1"
    })
class SessionkeeperTestTest {
  private static final List<String> MAILS = new CopyOnWriteArrayList<>();

  @TestConfiguration
  static class Fakes {
    @Bean
    Orders.Mail mail() {
      return MAILS::add;
    }
  }

  @Autowired SessionkeeperTemplate template;
  @Autowired SessionkeeperProbe probe;
  @Autowired QueueProvider provider;

  @Test
  void theListenerIsTestedWithQueuesInMemory() throws InterruptedException {
    assertThat(provider).isInstanceOf(MemoryQueueProvider.class);
    template.send("orders", "c-1", new OrderPlaced("c-1", 1));
    template.send("orders", "c-1", new OrderPlaced("c-1", -1));
    template.send("orders", "c-1", new OrderPlaced("c-1", 2));

    probe.awaitIdle();

    assertThat(MAILS).containsExactly("c-1 ordered 1", "c-1 ordered 2");
    assertThat(probe.handled("orders")).hasSize(2);
    assertThat(probe.handledTexts("orders").get(0)).contains("\"number\":1");
    assertThat(probe.deadLettered("orders")).hasSize(1);
    assertThat(probe.retried("orders")).isEmpty();
  }

  @Test
  void aMessageThatIsNotDueKeepsTheProbeWaiting() {
    template
        .to("orders")
        .session("later")
        .notBefore(java.time.Instant.parse("2100-01-01T00:00:00Z"))
        .ttl(Duration.ofDays(1))
        .send(new OrderPlaced("later", 1));
    assertThatThrownBy(() -> probe.awaitIdle(Duration.ofMillis(100)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("queue orders to be empty");
  }
}
