package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** A queue on the memory provider, and the messages handled from it. */
final class Workbench implements AutoCloseable {
  static final QueueName QUEUE = QueueName.of("work");

  final MemoryQueueProvider provider;
  final List<String> handled = new CopyOnWriteArrayList<>();
  final List<ProcessorEvent> events = new CopyOnWriteArrayList<>();

  private Workbench(TimeSource time, QueueSettings settings) {
    provider = MemoryQueueProvider.create(time);
    provider.declare(QUEUE, settings);
  }

  static Workbench ordered() {
    return with(QueueSettings.ordered());
  }

  static Workbench with(QueueSettings settings) {
    return new Workbench(TimeSource.system(), settings);
  }

  static Workbench with(QueueSettings settings, TimeSource time) {
    return new Workbench(time, settings);
  }

  /** Sends texts such as {@code a1}: the letters before the number are the session. */
  void holds(String... texts) {
    var messages = new ArrayList<Message>();
    for (var text : texts) {
      messages.add(
          Message.of(SessionId.of(text.replaceAll("\\d+$", "")), Payload.text(text))
              .withId(MessageId.of(text)));
    }
    provider.send(QUEUE, messages);
  }

  void holdsUnordered(int count) {
    for (int i = 0; i < count; i++) {
      provider.send(
          QUEUE, List.of(Message.unordered(Payload.text("m" + i)).withId(MessageId.of("m" + i))));
    }
  }

  /** A handler step that records the message. */
  String note(Delivery delivery) {
    var text = delivery.payload().asText();
    handled.add(text);
    return text;
  }

  SessionProcessor.Builder processor(MessageHandler handler) {
    return SessionProcessor.builder(provider, QUEUE, handler)
        .sessionIdleTimeout(Duration.ofMillis(200))
        .drainTimeout(Duration.ofSeconds(5))
        .listener(events::add);
  }

  long depth() {
    return provider.stats(QUEUE).depth();
  }

  List<CloseReason> closeReasons() {
    return eventsOf(ProcessorEvent.SessionClosed.class).stream()
        .map(ProcessorEvent.SessionClosed::reason)
        .toList();
  }

  <E extends ProcessorEvent> List<E> eventsOf(Class<E> type) {
    return events.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** Accepts a session as another owner, without waiting. */
  AcceptResult acceptElsewhere(String session) throws InterruptedException {
    return provider.sessions(QUEUE).accept(SessionId.of(session), Owner.of("other"), Duration.ZERO);
  }

  boolean isParked(String session) {
    return provider
        .inspect(QUEUE, Optional.of(SessionStatus.PARKED), Page.Request.first(10))
        .items()
        .stream()
        .anyMatch(view -> view.id().value().equals(session));
  }

  static ConditionFactory eventually() {
    return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
  }

  @Override
  public void close() {
    provider.close();
  }
}
