package dev.sessionkeeper.spring;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.BatchHandler;
import dev.sessionkeeper.processor.BatchSettlement;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

/**
 * A method of a bean as a handler. Its signature is checked when the method is found, not when it
 * is called.
 */
final class ListenerMethod {
  private static final String UNREADABLE = "unreadable body";

  private final Object bean;
  private final Method method;
  private final List<ListenerParameter> parameters;

  private ListenerMethod(Object bean, Method method, List<ListenerParameter> parameters) {
    this.bean = bean;
    this.method = method;
    this.parameters = parameters;
  }

  static ListenerMethod of(Object bean, Method method, boolean batch, Codecs codecs) {
    var declared = method.getParameters();
    if (Arrays.stream(declared).filter(each -> takesMessages(each, batch)).count() > 1) {
      throw refused(method, "it has more than one payload");
    }
    requireReturn(method, batch);
    var parameters = new ArrayList<ListenerParameter>();
    for (var parameter : declared) {
      try {
        parameters.add(ListenerParameter.of(parameter, batch, codecs));
      } catch (IllegalArgumentException e) {
        throw refused(method, String.valueOf(e.getMessage()));
      }
    }
    ReflectionUtils.makeAccessible(method);
    return new ListenerMethod(bean, method, List.copyOf(parameters));
  }

  private static boolean takesMessages(java.lang.reflect.Parameter parameter, boolean batch) {
    return ListenerParameter.isPayload(parameter)
        || (batch && parameter.getType().equals(Delivery.class));
  }

  private static void requireReturn(Method method, boolean batch) {
    var type = method.getReturnType();
    var settlement = batch ? BatchSettlement.class : Settlement.class;
    boolean fits =
        type.equals(void.class)
            || settlement.isAssignableFrom(type)
            || CompletionStage.class.isAssignableFrom(type);
    if (!fits) {
      throw refused(
          method,
          "it returns %s; allowed are void, %s and a CompletionStage"
              .formatted(type.getName(), settlement.getSimpleName()));
    }
  }

  private static IllegalArgumentException refused(Method method, String why) {
    return new IllegalArgumentException(
        "@SessionListener method " + method.toGenericString() + " cannot be used: " + why);
  }

  MessageHandler handler() {
    return (delivery, session) -> {
      @Nullable Object[] arguments;
      try {
        arguments = arguments(List.of(delivery), session);
      } catch (KeeperException.Rejected e) {
        return Settlement.deadLetter(UNREADABLE, String.valueOf(e.getMessage()));
      }
      return invoke(arguments) instanceof Settlement settlement
          ? settlement
          : Settlement.complete();
    };
  }

  BatchHandler batchHandler() {
    return (deliveries, session) -> {
      @Nullable Object[] arguments;
      try {
        arguments = arguments(deliveries, session);
      } catch (UnreadableInBatch e) {
        return beforeUnreadable(deliveries, session, e);
      }
      return invoke(arguments) instanceof BatchSettlement settlement
          ? settlement
          : BatchSettlement.complete();
    };
  }

  /** Handles the messages before an unreadable one, which then becomes a dead letter. */
  private BatchSettlement beforeUnreadable(
      List<Delivery> deliveries, SessionContext session, UnreadableInBatch unreadable)
      throws Exception {
    int readable = unreadable.index();
    if (readable == 0) {
      var error = String.valueOf(unreadable.getCause());
      return BatchSettlement.upTo(0, Settlement.deadLetter(UNREADABLE, error));
    }
    return switch (batchHandler().handle(deliveries.subList(0, readable), session)) {
      case BatchSettlement.Complete complete -> BatchSettlement.upTo(readable);
      case BatchSettlement.UpTo upTo -> upTo;
    };
  }

  private @Nullable Object[] arguments(List<Delivery> deliveries, SessionContext session) {
    var arguments = new @Nullable Object[parameters.size()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = parameters.get(i).valueOf(deliveries, session);
    }
    return arguments;
  }

  private @Nullable Object invoke(@Nullable Object[] arguments) throws Exception {
    try {
      var result = method.invoke(bean, arguments);
      return result instanceof CompletionStage<?> stage ? await(stage) : result;
    } catch (InvocationTargetException e) {
      throw unwrapped(e.getCause(), e);
    }
  }

  private static @Nullable Object await(CompletionStage<?> stage) throws Exception {
    var future = stage.toCompletableFuture();
    try {
      return future.get();
    } catch (InterruptedException e) {
      future.cancel(true);
      throw e;
    } catch (ExecutionException e) {
      throw unwrapped(e.getCause(), e);
    }
  }

  private static Exception unwrapped(@Nullable Throwable cause, Exception outer) {
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof Exception exception ? exception : outer;
  }
}
