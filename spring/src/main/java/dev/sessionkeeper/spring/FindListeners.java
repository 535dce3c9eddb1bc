package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Finds {@link SessionListener} methods of all beans and hands them to the {@link
 * SessionListeners}.
 */
public final class FindListeners
    implements BeanPostProcessor, BeanFactoryAware, SmartInitializingSingleton {
  private final List<ListenerDefinition> found = new ArrayList<>();
  private @Nullable ConfigurableBeanFactory beans;

  @Override
  public void setBeanFactory(BeanFactory factory) {
    beans = (ConfigurableBeanFactory) factory;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    var type = AopUtils.getTargetClass(bean);
    listenersOf(type)
        .forEach(
            (method, listener) -> {
              synchronized (found) {
                found.add(definition(bean, name, method, listener));
              }
            });
    return bean;
  }

  /** Returns whether beans of this type have listeners. */
  public static boolean hasListeners(Class<?> type) {
    return !listenersOf(type).isEmpty();
  }

  private static Map<Method, SessionListener> listenersOf(Class<?> type) {
    return AnnotationUtils.isCandidateClass(type, SessionListener.class)
        ? MethodIntrospector.selectMethods(
            type,
            (MethodIntrospector.MetadataLookup<SessionListener>)
                method -> AnnotatedElementUtils.findMergedAnnotation(method, SessionListener.class))
        : Map.of();
  }

  @Override
  public void afterSingletonsInstantiated() {
    var listeners = beans().getBean(SessionListeners.class);
    synchronized (found) {
      found.forEach(listeners::register);
    }
  }

  private ListenerDefinition definition(
      Object bean, String name, Method method, SessionListener listener) {
    var id = resolved(listener.id());
    return new ListenerDefinition(
        id.isBlank() ? name + "." + method.getName() : id,
        QueueName.of(resolved(listener.queue())),
        bean,
        AopUtils.selectInvocableMethod(method, bean.getClass()),
        number("concurrency", resolved(listener.concurrency()), method),
        number("batch", resolved(listener.batch()), method),
        listener.transactional(),
        startsAutomatically(resolved(listener.autoStartup()), method));
  }

  private static boolean startsAutomatically(String text, Method method) {
    return switch (text.strip()) {
      case "", "true" -> true;
      case "false" -> false;
      default ->
          throw new IllegalArgumentException(
              "autoStartup of @SessionListener on "
                  + method
                  + " must be true or false, was "
                  + text);
    };
  }

  private static OptionalInt number(String name, String text, Method method) {
    if (text.isBlank()) {
      return OptionalInt.empty();
    }
    try {
      int number = Integer.parseInt(text.strip());
      if (number >= 1) {
        return OptionalInt.of(number);
      }
    } catch (NumberFormatException e) {
      // Refused below, with the name of the setting.
    }
    throw new IllegalArgumentException(
        name + " of @SessionListener on " + method + " must be a number from 1 on, was " + text);
  }

  private String resolved(String text) {
    var value = beans().resolveEmbeddedValue(text);
    return value == null ? "" : value;
  }

  private ConfigurableBeanFactory beans() {
    if (beans == null) {
      throw new IllegalStateException("The bean factory was not set");
    }
    return beans;
  }
}
