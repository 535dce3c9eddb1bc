package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.SessionProcessor;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** The product: the provider and the whole processor, with its default settings. */
public final class KeeperArm implements Arm {
  private static final QueueName QUEUE = QueueName.of("bench");

  /** More than one stand for as many processes: none of them knows of the others. */
  private final List<PostgresQueueProvider> providers;

  private final SessionId[] ids;
  private final int concurrency;
  private final List<SessionProcessor> processors = new ArrayList<>();

  private KeeperArm(List<PostgresQueueProvider> providers, int sessions, int concurrency) {
    this.providers = providers;
    this.concurrency = concurrency;
    this.ids = new SessionId[sessions];
    for (int i = 0; i < sessions; i++) {
      ids[i] = SessionId.of("customer-" + i);
    }
  }

  public static KeeperArm open(DataSource database, int sessions) {
    return open(database, sessions, 1);
  }

  /** With so many processes that consume; the first of them sends. */
  static KeeperArm open(DataSource database, int sessions, int consumers) {
    var providers = new ArrayList<PostgresQueueProvider>();
    for (int i = 0; i < consumers; i++) {
      providers.add(PostgresQueueProvider.create(database));
    }
    providers.get(0).declare(QUEUE, QueueSettings.ordered());
    return new KeeperArm(providers, sessions, Integer.getInteger("slots", 256));
  }

  @Override
  public Producer producer() {
    return new Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) {
        var messages = new ArrayList<Message>(sessions.length);
        for (int i = 0; i < sessions.length; i++) {
          messages.add(
              Message.of(ids[sessions[i]], Payload.bytes(bodies[i], "application/octet-stream")));
        }
        providers.get(0).send(QUEUE, messages);
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void consume(Load load) {
    for (var provider : providers) {
      processors.add(
          SessionProcessor.builder(
                  provider,
                  QUEUE,
                  (delivery, session) -> {
                    load.handle(delivery.payload().unsafeBytes());
                    return Settlement.complete();
                  })
              .maxConcurrentSessions(Math.min(concurrency, ids.length))
              .build()
              .start());
    }
  }

  @Override
  public void stopConsuming() {
    processors.forEach(SessionProcessor::close);
    processors.clear();
  }

  @Override
  public void close() {
    stopConsuming();
    providers.forEach(PostgresQueueProvider::close);
  }
}
