package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;
import java.util.List;

/**
 * Loads the classes of the vendor's SDK, because the first call takes longer than the kit's locks
 * last.
 */
final class WarmUp {
  private WarmUp() {}

  static void run(QueueProvider provider) {
    var queue = QueueName.of("warm-up");
    try (provider) {
      provider.declare(queue, QueueSettings.ordered());
      for (int i = 0; i < 5; i++) {
        provider.send(queue, List.of(Message.of(SessionId.of("s" + i), Payload.text("x"))));
        if (provider.sessions(queue).acceptNext(Owner.of("warm-up"), Duration.ofSeconds(20))
            instanceof AcceptResult.Accepted accepted) {
          try (var session = accepted.session()) {
            for (var delivery : session.receive(1, Duration.ofSeconds(10))) {
              var done = i % 2 == 0 ? Settlement.complete() : Settlement.deadLetter("warm-up");
              session
                  .settle(List.of(new Settled(delivery.sequence(), done)))
                  .toCompletableFuture()
                  .join();
            }
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
