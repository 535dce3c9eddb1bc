package dev.sessionkeeper.spring;

import dev.sessionkeeper.Codec;
import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.processor.SessionContext;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds the value of one parameter of a listener. */
@FunctionalInterface
interface ListenerParameter {

  /**
   * Returns the value for these messages: one, or several of a batch.
   *
   * @throws KeeperException.Rejected if the message cannot be read; another attempt cannot help
   */
  @Nullable Object valueOf(List<Delivery> deliveries, SessionContext session);

  Set<Class<?>> NO_PAYLOAD = Set.of(SessionContext.class, Delivery.class, SessionId.class);

  static boolean isPayload(Parameter parameter) {
    return !parameter.isAnnotationPresent(Property.class)
        && !NO_PAYLOAD.contains(parameter.getType());
  }

  static ListenerParameter of(Parameter parameter, boolean batch, Codecs codecs) {
    var property = parameter.getAnnotation(Property.class);
    if (property != null) {
      return property(parameter, property, batch);
    }
    if (parameter.getType().equals(SessionContext.class)) {
      return (deliveries, session) -> session;
    }
    if (parameter.getType().equals(SessionId.class)) {
      return (deliveries, session) -> session.id();
    }
    if (batch) {
      return list(parameter, codecs);
    }
    if (parameter.getType().equals(Delivery.class)) {
      return (deliveries, session) -> deliveries.get(0);
    }
    var codec = codecs.of(parameter.getParameterizedType());
    return (deliveries, session) -> codec.decode(deliveries.get(0).payload());
  }

  private static ListenerParameter property(Parameter parameter, Property property, boolean batch) {
    if (batch || !parameter.getType().equals(String.class)) {
      throw new IllegalArgumentException(
          "@Property needs a String and a listener without batch, was " + parameter);
    }
    return (deliveries, session) -> {
      var value = deliveries.get(0).message().properties().get(property.value());
      if (value == null && property.required()) {
        throw new KeeperException.Rejected("The message has no property " + property.value());
      }
      return value;
    };
  }

  private static ListenerParameter list(Parameter parameter, Codecs codecs) {
    if (!parameter.getType().equals(List.class)
        || !(parameter.getParameterizedType() instanceof ParameterizedType type)) {
      throw new IllegalArgumentException(
          "A listener with batch takes its messages as a List of one type, was " + parameter);
    }
    var element = type.getActualTypeArguments()[0];
    if (element.equals(Delivery.class)) {
      return (deliveries, session) -> deliveries;
    }
    return listOf(element, codecs);
  }

  private static ListenerParameter listOf(Type element, Codecs codecs) {
    Codec<?> codec = codecs.of(element);
    return (deliveries, session) -> {
      var values = new ArrayList<Object>(deliveries.size());
      for (int i = 0; i < deliveries.size(); i++) {
        try {
          values.add(codec.decode(deliveries.get(i).payload()));
        } catch (KeeperException.Rejected e) {
          throw new UnreadableInBatch(i, e);
        }
      }
      return List.copyOf(values);
    };
  }
}
