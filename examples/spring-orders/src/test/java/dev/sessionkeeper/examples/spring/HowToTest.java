package dev.sessionkeeper.examples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.BatchSettlement;
import dev.sessionkeeper.processor.DeadLetterHandler.Decision;
import dev.sessionkeeper.processor.DeadLetterProcessor;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.SessionErrorHandler;
import dev.sessionkeeper.spring.SessionListener;
import dev.sessionkeeper.spring.SessionkeeperTemplate;
import dev.sessionkeeper.spring.boot.test.SessionkeeperProbe;
import dev.sessionkeeper.spring.boot.test.SessionkeeperTest;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.FilterType;
import org.springframework.context.annotation.Import;

/** Samples of the Spring Boot page that the example application itself does not need. */
@SessionkeeperTest(
    properties = {
      "sessionkeeper.queues.mail.mode=ordered",
      "sessionkeeper.queues.stock.mode=ordered",
      "sessionkeeper.listener.dead-letter-on=java.lang.IllegalArgumentException"
    },
    excludeFilters =
        @Filter(
            type = FilterType.ASSIGNABLE_TYPE,
            classes = {BookOrders.class, ShipOrders.class}))
@Import(HowToTest.Shop.class)
class HowToTest {
  @Autowired SessionkeeperTemplate template;
  @Autowired SessionkeeperProbe probe;
  @Autowired Shop shop;

  @TestConfiguration(proxyBeanMethods = false)
  static class Shop {
    private final List<String> mails = new CopyOnWriteArrayList<>();
    private final List<List<String>> counted = new CopyOnWriteArrayList<>();
    private final CountDownLatch deadLetters = new CountDownLatch(1);
    private final AtomicBoolean carrierAnswers = new AtomicBoolean();

    // region error-handler
    @Bean
    SessionErrorHandler carrierIsDown() {
      return (failure, context) ->
          failure instanceof ConnectException
              ? Optional.of(Settlement.postpone(Duration.ofMillis(10), "the carrier is down"))
              : Optional.empty();
    }

    // endregion

    // region dead-letters
    @Bean
    DeadLetterProcessor mailAboutDeadLetters(QueueProvider provider) {
      return DeadLetterProcessor.start(
          provider,
          QueueName.of("mail"),
          letter -> {
            tellSupport(letter.message().id() + " was not sent: " + letter.reason());
            return Decision.KEEP;
          },
          Duration.ofSeconds(1));
    }

    // endregion

    private void tellSupport(String text) {
      mails.add(text);
      deadLetters.countDown();
    }

    @SessionListener(queue = "mail")
    void send(String text) throws ConnectException {
      if (text.equals("hello") && !carrierAnswers.getAndSet(true)) {
        throw new ConnectException("refused");
      }
      if (text.isBlank()) {
        throw new IllegalArgumentException("an empty mail");
      }
      mails.add(text);
    }

    // region batch
    @SessionListener(queue = "stock", batch = "50", transactional = true)
    BatchSettlement count(List<OrderPlaced> orders) {
      counted.add(orders.stream().map(OrderPlaced::item).toList());
      return BatchSettlement.complete();
    }
    // endregion
  }

  @Test
  void aPostponedMessageHasUsedNoAttempt() throws InterruptedException {
    template.send("mail", "c-42", "hello");
    probe.awaitIdle();
    assertThat(shop.mails).contains("hello");
    assertThat(probe.retried("mail")).isNotEmpty();
    assertThat(probe.handled("mail"))
        .filteredOn(delivery -> delivery.payload().asText().equals("hello"))
        .extracting(Delivery::attempt)
        .containsExactly(1);
  }

  @Test
  void aBatchHasMessagesOfOneSession() throws InterruptedException {
    template.send("stock", "c-42", new OrderPlaced("c-42", 1, "tea"));
    template.send("stock", "c-42", new OrderPlaced("c-42", 2, "cup"));
    probe.awaitIdle();
    assertThat(shop.counted.stream().flatMap(List::stream)).containsExactly("tea", "cup");
  }

  @Test
  void aMessageCanWait() throws InterruptedException {
    // region scheduled
    var soon = Instant.now().plusMillis(50);
    template.to("mail").session("c-43").id("reminder-43").notBefore(soon).send("still there?");
    // endregion
    probe.awaitIdle();
    assertThat(shop.mails).contains("still there?");
  }

  @Test
  void aDeadLetterIsShownToItsHandler() throws InterruptedException {
    template.to("mail").session("c-44").id("empty-44").send(" ");
    assertThat(shop.deadLetters.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(shop.mails)
        .contains("empty-44 was not sent: " + IllegalArgumentException.class.getName());
  }
}
