package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * An outbox for queues on another technology: messages wait in an ordered queue of this database,
 * from which a relay sends them.
 *
 * <p>Each session of each target has its own session here, so a failing target delays only its own
 * sessions, and its failure never repeats a send to another target. After a crash between send and
 * settlement, the same message id is sent again, which the target recognises.
 */
final class RelayOutbox implements Outbox {
  /** The queue of messages that wait for the relay. */
  static final QueueName QUEUE = QueueName.of("keeper-relay");

  private static final String TARGET = "relay-queue";
  private static final String SESSION = "relay-session";
  private static final int MAX_CONCURRENT_SESSIONS = 32;
  private static final RetryPolicy RETRY =
      RetryPolicy.endless(Duration.ofMillis(200), Duration.ofSeconds(30));

  private final PostgresQueueProvider store;
  private final QueueProvider target;
  private final SessionProcessor processor;

  private RelayOutbox(PostgresQueueProvider store, QueueProvider target, TimeSource time) {
    this.store = store;
    this.target = target;
    store.declare(
        QUEUE,
        QueueSettings.ordered()
            .withMessageTtl(Duration.ofDays(366))
            .withPoisonPolicy(PoisonPolicy.BLOCK));
    processor =
        SessionProcessor.builder(store, QUEUE, this::carryOver)
            .maxConcurrentSessions(MAX_CONCURRENT_SESSIONS)
            .sessionIdleTimeout(Duration.ofSeconds(1))
            .retry(RETRY)
            .time(time)
            .build();
  }

  static RelayOutbox start(PostgresQueueProvider store, QueueProvider target, TimeSource time) {
    var relay = new RelayOutbox(store, target, time);
    relay.processor.start();
    return relay;
  }

  @Override
  public int maxBodyBytes() {
    return Math.min(
        store.capabilities().limits().maxBodyBytes(),
        target.capabilities().limits().maxBodyBytes());
  }

  @Override
  public void send(
      Connection connection, Map<QueueName, List<Message>> messages, Map<MessageId, UUID> bodies)
      throws SQLException {
    var all = new ArrayList<Message>();
    messages.forEach((queue, its) -> its.forEach(message -> all.add(wrapped(queue, message))));
    int most = store.capabilities().limits().maxBatch();
    for (int from = 0; from < all.size(); from += most) {
      store.send(connection, QUEUE, all.subList(from, Math.min(all.size(), from + most)), bodies);
    }
  }

  @Override
  public void committed(Collection<QueueName> queues) {
    if (!queues.isEmpty()) {
      store.wake(QUEUE);
    }
  }

  private static Message wrapped(QueueName queue, Message message) {
    var properties = new HashMap<>(message.properties());
    properties.put(TARGET, queue.value());
    message.session().ifPresent(session -> properties.put(SESSION, session.value()));
    var session = message.session().map(SessionId::value).orElseGet(() -> message.id().value());
    return message.inSession(SessionId.fromKey(queue + " " + session)).withProperties(properties);
  }

  private Settlement carryOver(Delivery delivery, SessionContext relayed) {
    var wrapped = delivery.message();
    var properties = new HashMap<>(wrapped.properties());
    var queue = QueueName.of(Optional.ofNullable(properties.remove(TARGET)).orElseThrow());
    var session = Optional.ofNullable(properties.remove(SESSION)).map(SessionId::of);
    var message =
        new Message(
            wrapped.id(),
            session,
            wrapped.payload(),
            properties,
            wrapped.ttl(),
            wrapped.notBefore());
    var outcome = target.send(queue, List.of(message)).getFirst();
    if (outcome instanceof SendOutcome.Refused refused) {
      throw new IllegalStateException("The queue " + queue + " refused it: " + refused.reason());
    }
    return Settlement.complete();
  }

  @Override
  public void close() {
    processor.close();
    store.close();
  }
}
