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
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The product: the provider and the whole processor, with its default settings. */
public final class KeeperArm implements Arm {
  private static final QueueName QUEUE = QueueName.of("bench");

  private final PostgresQueueProvider provider;
  private final SessionId[] ids;
  private final int concurrency;
  private @Nullable SessionProcessor processor;

  private KeeperArm(PostgresQueueProvider provider, int sessions, int concurrency) {
    this.provider = provider;
    this.concurrency = concurrency;
    this.ids = new SessionId[sessions];
    for (int i = 0; i < sessions; i++) {
      ids[i] = SessionId.of("customer-" + i);
    }
  }

  public static KeeperArm open(DataSource database, int sessions) {
    var provider = PostgresQueueProvider.create(database);
    provider.declare(QUEUE, QueueSettings.ordered());
    return new KeeperArm(provider, sessions, Integer.getInteger("slots", 256));
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
        provider.send(QUEUE, messages);
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void consume(Load load) {
    processor =
        SessionProcessor.builder(
                provider,
                QUEUE,
                (delivery, session) -> {
                  load.handle(delivery.payload().unsafeBytes());
                  return Settlement.complete();
                })
            .maxConcurrentSessions(Math.min(concurrency, ids.length))
            .build()
            .start();
  }

  @Override
  public void stopConsuming() {
    if (processor != null) {
      processor.close();
      processor = null;
    }
  }

  @Override
  public void close() {
    stopConsuming();
    provider.close();
  }
}
