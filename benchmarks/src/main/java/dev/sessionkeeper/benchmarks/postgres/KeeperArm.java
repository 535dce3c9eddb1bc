package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.SessionProcessor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Optional;
import java.util.function.Predicate;
import javax.sql.DataSource;

/** The product: the provider and the whole processor, with its default settings. */
public final class KeeperArm implements Arm {
  private static final String BODY_TYPE = "application/octet-stream";
  private static final Settlement AT_ONCE = Settlement.retryAfter(Duration.ZERO);

  private final PostgresQueueProvider provider;
  private final QueueName queue;
  private final SessionId[] ids;
  private final int concurrency;
  private final Predicate<Delivery> fails;
  private Optional<SessionProcessor> processor = Optional.empty();

  private KeeperArm(
      PostgresQueueProvider provider, QueueName queue, int sessions, Predicate<Delivery> fails) {
    this.provider = provider;
    this.queue = queue;
    this.fails = fails;
    this.concurrency = Integer.getInteger("slots", 256);
    this.ids = new SessionId[sessions];
    for (int i = 0; i < sessions; i++) {
      ids[i] = SessionId.of("customer-" + i);
    }
  }

  public static KeeperArm open(DataSource database, int sessions) {
    return open(database, "bench", sessions, delivery -> false);
  }

  /**
   * Opens a queue of this name.
   *
   * @param fails which deliveries the handler retries
   */
  static KeeperArm open(DataSource database, String name, int sessions, Predicate<Delivery> fails) {
    var provider = PostgresQueueProvider.create(database);
    var queue = QueueName.of(name);
    provider.declare(queue, QueueSettings.ordered());
    return new KeeperArm(provider, queue, sessions, fails);
  }

  PostgresQueueProvider provider() {
    return provider;
  }

  QueueName queue() {
    return queue;
  }

  SessionId session(int number) {
    return ids[number];
  }

  @Override
  public Producer producer() {
    return new Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) {
        var messages = new ArrayList<Message>(sessions.length);
        for (int i = 0; i < sessions.length; i++) {
          messages.add(Message.of(ids[sessions[i]], Payload.bytes(bodies[i], BODY_TYPE)));
        }
        provider.send(queue, messages);
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void consume(Load load) {
    processor =
        Optional.of(
            SessionProcessor.builder(
                    provider,
                    queue,
                    (delivery, session) -> {
                      if (fails.test(delivery)) {
                        return AT_ONCE;
                      }
                      load.handle(delivery.payload().unsafeBytes());
                      return Settlement.complete();
                    })
                .maxConcurrentSessions(Math.min(concurrency, ids.length))
                .build()
                .start());
  }

  @Override
  public void stopConsuming() {
    processor.ifPresent(SessionProcessor::close);
    processor = Optional.empty();
  }

  @Override
  public void close() {
    stopConsuming();
    provider.close();
  }
}
