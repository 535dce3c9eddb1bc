package dev.sessionkeeper.examples;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionProcessor;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * The same handler and processor on an unordered queue, whose messages are independent of each
 * other.
 */
public final class WithoutOrder {
  private WithoutOrder() {}

  public static void main(String[] arguments) throws InterruptedException {
    var mails = QueueName.of("mails");
    var done = new CountDownLatch(5);
    MessageHandler handler =
        (delivery, session) -> {
          System.out.println("sent " + delivery.payload().asText());
          done.countDown();
          return Settlement.complete();
        };
    try (var provider = MemoryQueueProvider.create()) {
      // region unordered
      provider.declare(mails, QueueSettings.unordered());
      for (int i = 1; i <= 5; i++) {
        provider.send(mails, List.of(Message.unordered(Payload.text("mail " + i))));
      }
      try (var processor = SessionProcessor.builder(provider, mails, handler).build().start()) {
        done.await();
      }
      // endregion
    }
  }
}
