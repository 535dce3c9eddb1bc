package dev.sessionkeeper.examples;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionProcessor;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Keeps state with a session: it is written together with the settlement of the message. */
public final class SessionMemory {
  private SessionMemory() {}

  public static void main(String[] arguments) throws InterruptedException {
    var bookings = QueueName.of("bookings");
    var account = SessionId.of("account-1");
    var done = new CountDownLatch(3);
    // region state
    MessageHandler handler =
        (delivery, session) -> {
          var state = session.state();
          long balance = state.version() == 0 ? 0 : Long.parseLong(text(state));
          balance += Long.parseLong(delivery.payload().asText());
          session.writeStateOnSettle(
              new SessionState.Write(bytes(Long.toString(balance)), state.version()));
          System.out.println(session.id() + " has " + balance + ", epoch " + session.epoch());
          done.countDown();
          return Settlement.complete();
        };
    // endregion
    try (var provider = MemoryQueueProvider.create()) {
      provider.declare(bookings, QueueSettings.ordered());
      for (var amount : List.of("100", "-30", "5")) {
        provider.send(bookings, List.of(Message.of(account, Payload.text(amount))));
      }
      try (var processor = SessionProcessor.builder(provider, bookings, handler).build().start()) {
        done.await();
      }
    }
  }

  private static String text(SessionState state) {
    return new String(state.bytes(), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
