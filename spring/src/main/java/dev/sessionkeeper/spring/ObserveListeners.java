package dev.sessionkeeper.spring;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.BatchHandler;
import dev.sessionkeeper.processor.BatchSettlement;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionContext;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.observation.transport.SenderContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Observes listeners as {@code keeper.listener} and sends as {@code keeper.send}. The trace context
 * travels in the properties of a message.
 *
 * <p>Queue, listener and outcome are of low cardinality; the session is of high cardinality.
 */
final class ObserveListeners {
  private static final String QUEUE = "queue";
  private static final String OUTCOME = "outcome";
  private static final String ERROR = "error";

  private final ObservationRegistry registry;

  ObserveListeners(ObservationRegistry registry) {
    this.registry = registry;
  }

  MessageHandler handler(String listener, QueueName queue, MessageHandler handler) {
    if (registry.isNoop()) {
      return handler;
    }
    var about = About.of(listener, queue);
    return (delivery, session) -> {
      var observation = begin(about, delivery, session);
      try (var scope = observation.openScope()) {
        var settlement = handler.handle(delivery, session);
        observation.lowCardinalityKeyValue(OUTCOME, word(settlement));
        return settlement;
      } catch (Exception e) {
        failed(observation, e);
        throw e;
      } finally {
        observation.stop();
      }
    };
  }

  /** Observes a handler of batches. A batch belongs to the trace of its first message. */
  BatchHandler batchHandler(String listener, QueueName queue, BatchHandler handler) {
    if (registry.isNoop()) {
      return handler;
    }
    var about = About.of(listener, queue);
    return (deliveries, session) -> {
      var observation = begin(about, deliveries.get(0), session);
      try (var scope = observation.openScope()) {
        var settlement = handler.handle(deliveries, session);
        observation.lowCardinalityKeyValue(
            OUTCOME, settlement instanceof BatchSettlement.Complete ? "complete" : "partial");
        return settlement;
      } catch (Exception e) {
        failed(observation, e);
        throw e;
      } finally {
        observation.stop();
      }
    };
  }

  MessageSender sender(MessageSender sender) {
    return registry.isNoop() ? sender : (queue, messages) -> send(sender, queue, messages);
  }

  private List<SendOutcome> send(MessageSender sender, QueueName queue, List<Message> messages) {
    var context = new SenderContext<Map<String, String>>((map, name, text) -> put(map, name, text));
    Map<String, String> properties = new HashMap<>();
    context.setCarrier(properties);
    var observation =
        Observation.createNotStarted("keeper.send", () -> context, registry)
            .contextualName("send " + queue)
            .lowCardinalityKeyValue(QUEUE, queue.value())
            .start();
    try (var scope = observation.openScope()) {
      var outcomes =
          sender.send(queue, messages.stream().map(each -> carrying(each, properties)).toList());
      observation.lowCardinalityKeyValue(OUTCOME, "sent");
      return outcomes;
    } catch (RuntimeException e) {
      failed(observation, e);
      throw e;
    } finally {
      observation.stop();
    }
  }

  private static void put(@Nullable Map<String, String> map, String name, String text) {
    if (map != null) {
      map.put(name, text);
    }
  }

  private static Message carrying(Message message, Map<String, String> properties) {
    var carrying = message;
    for (var each : properties.entrySet()) {
      if (!message.properties().containsKey(each.getKey())) {
        carrying = carrying.withProperty(each.getKey(), each.getValue());
      }
    }
    return carrying;
  }

  /** The title and keys that all observations of a listener share. */
  private record About(String title, KeyValues keys) {
    static About of(String listener, QueueName queue) {
      return new About(
          "process " + queue, KeyValues.of(QUEUE, queue.value(), "listener", listener));
    }
  }

  private Observation begin(About about, Delivery delivery, SessionContext session) {
    return Observation.createNotStarted(
            "keeper.listener",
            () -> {
              var context = new ReceiverContext<Map<String, String>>(ObserveListeners::get);
              context.setCarrier(delivery.message().properties());
              context.setContextualName(about.title());
              context.addLowCardinalityKeyValues(about.keys());
              context.addHighCardinalityKeyValue(KeyValue.of("session", session.id().value()));
              context.addHighCardinalityKeyValue(KeyValue.of("message", delivery.id().value()));
              return context;
            },
            registry)
        .start();
  }

  private static @Nullable String get(@Nullable Map<String, String> properties, String name) {
    return properties == null ? null : properties.get(name);
  }

  private static void failed(Observation observation, Exception failure) {
    observation.lowCardinalityKeyValue(OUTCOME, ERROR);
    observation.error(failure);
  }

  private static String word(Settlement settlement) {
    return switch (settlement) {
      case Settlement.Complete complete -> "complete";
      case Settlement.Retry retry -> "retry";
      case Settlement.DeadLetter letter -> "dead_letter";
      case Settlement.Park park -> "park";
    };
  }
}
