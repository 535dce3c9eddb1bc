package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;
import java.util.ArrayList;

/** The provider in this process. */
record DirectWay(QueueProvider provider) implements Way {
  private static final Owner OWNER = Owner.of("bench");

  @Override
  public String name() {
    return "direct";
  }

  @Override
  public void declare(QueueName queue) {
    provider.declare(queue, QueueSettings.ordered());
  }

  @Override
  public void send(QueueName queue, int first, int sessions, int count) {
    var messages = new ArrayList<Message>(count);
    for (int i = first; i < first + count; i++) {
      messages.add(Message.of(SessionId.of("bench/" + i % sessions), Payload.json(body(i))));
    }
    provider.send(queue, messages);
  }

  static String body(int number) {
    return "{\"order\":" + number + ",\"item\":\"tea\",\"amount\":3,\"note\":\"by the window\"}";
  }

  @Override
  public int consume(QueueName queue, int most) {
    try {
      var result = provider.sessions(queue).acceptNext(OWNER, Duration.ofMillis(100));
      return result instanceof AcceptResult.Accepted accepted ? serve(accepted.session(), most) : 0;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int serve(HeldSession session, int most) throws InterruptedException {
    try (session) {
      var messages = session.receive(most, Duration.ZERO);
      session
          .settle(
              messages.stream()
                  .map(each -> new HeldSession.Settled(each.sequence(), Settlement.complete()))
                  .toList())
          .toCompletableFuture()
          .join();
      return messages.size();
    }
  }

  @Override
  public void close() {
    provider.close();
  }
}
