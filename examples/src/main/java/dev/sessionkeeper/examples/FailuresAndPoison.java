package dev.sessionkeeper.examples;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** Shows what happens to a failing message, and to the messages behind it. */
public final class FailuresAndPoison {
  private FailuresAndPoison() {}

  public static void main(String[] arguments) throws InterruptedException {
    var payments = QueueName.of("payments");
    var session = SessionId.of("account-1");
    var bankIsUp = new AtomicBoolean();
    var deliveryWasHandled = new CountDownLatch(1);
    var paymentWasHandled = new CountDownLatch(1);
    try (var provider = MemoryQueueProvider.create()) {
      provider.declare(payments, QueueSettings.ordered());
      provider.send(
          payments,
          List.of(
              Message.of(session, Payload.text("pay")),
              Message.of(session, Payload.text("deliver"))));
      MessageHandler handler =
          (delivery, context) -> {
            var text = delivery.payload().asText();
            System.out.println(text + ", attempt " + delivery.attempt());
            if (text.equals("pay") && !bankIsUp.get()) {
              throw new IllegalStateException("the bank does not answer");
            }
            (text.equals("pay") ? paymentWasHandled : deliveryWasHandled).countDown();
            return Settlement.complete();
          };
      // region retries-and-poison
      var processor =
          SessionProcessor.builder(provider, payments, handler)
              .retry(new RetryPolicy(3, Duration.ofMillis(50), 2, Duration.ofSeconds(1), 0.25))
              .poisonPolicy(PoisonPolicy.DEAD_LETTER)
              .build();
      // endregion
      try (processor) {
        processor.start();
        deliveryWasHandled.await();
        var dead = provider.deadLetters(payments, Optional.empty(), Page.Request.first(10));
        dead.items().forEach(d -> System.out.println("dead: " + d.reason() + ", " + d.lastError()));

        bankIsUp.set(true);
        provider.replay(payments, new Selection.All());
        paymentWasHandled.await();
      }
    }
  }
}
