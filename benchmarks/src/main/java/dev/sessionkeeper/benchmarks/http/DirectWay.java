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
import dev.sessionkeeper.spi.SessionSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A provider, used as a processor does; each consumer holds one session at a time. */
record DirectWay(
    String name, QueueProvider provider, int consumers, Map<QueueName, SessionSource> sources)
    implements Way {
  private static final Owner OWNER = Owner.of("bench");
  private static final Duration PATIENCE = Duration.ofMillis(100);
  private static final int MOST_MESSAGES = 100;

  DirectWay(String name, QueueProvider provider, int consumers) {
    this(name, provider, consumers, new ConcurrentHashMap<>());
  }

  @Override
  public void declare(QueueName queue) {
    provider.declare(queue, QueueSettings.ordered());
  }

  @Override
  public void send(QueueName queue, Iterable<Outgoing> messages) {
    var all = new ArrayList<Message>();
    messages.forEach(
        each -> all.add(Message.of(SessionId.of(each.session()), Payload.json(each.json()))));
    provider.send(queue, all);
  }

  @Override
  public Consuming consume(QueueName queue) {
    // As in a processor, all consumers share one source.
    var sessions = sources.computeIfAbsent(queue, provider::sessions);
    return (handler, completed) -> {
      var result = sessions.acceptNext(OWNER, PATIENCE);
      if (result instanceof AcceptResult.Accepted accepted) {
        completed.accept(serve(accepted.session(), handler));
      }
    };
  }

  private static int serve(HeldSession session, Consumer<Supplier<String>> handler)
      throws InterruptedException {
    var messages = session.receiveKnown(MOST_MESSAGES, Duration.ZERO);
    messages.forEach(each -> handler.accept(() -> each.payload().asText()));
    var durable =
        session
            .settle(
                messages.stream()
                    .map(each -> new HeldSession.Settled(each.sequence(), Settlement.complete()))
                    .toList())
            .toCompletableFuture();
    if (!session.closesBehindSettlements()) {
      durable.join();
    }
    session.close();
    durable.join();
    return messages.size();
  }
}
