package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.QueueProvider;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Declares the queues of the properties as soon as the provider exists, so that every bean that
 * uses the provider finds its queues.
 */
final class QueueDeclarations implements BeanPostProcessor {
  private final ObjectProvider<SessionkeeperProperties> properties;

  QueueDeclarations(ObjectProvider<SessionkeeperProperties> properties) {
    this.properties = properties;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof QueueProvider provider) {
      properties
          .getObject()
          .queues()
          .forEach((queue, settings) -> provider.declare(QueueName.of(queue), settings.settings()));
    }
    return bean;
  }

  List<QueueName> queues() {
    return properties.getObject().queues().keySet().stream().map(QueueName::of).toList();
  }
}
