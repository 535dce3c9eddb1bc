package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.micrometer.ProcessorMeters;
import dev.sessionkeeper.micrometer.QueueMeters;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.SessionProcessorCustomizer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Meters of listeners and declared queues. */
@AutoConfiguration(
    after = SessionkeeperAutoConfiguration.class,
    afterName =
        "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass({MeterRegistry.class, ProcessorMeters.class})
@ConditionalOnBean({MeterRegistry.class, QueueProvider.class})
public final class SessionkeeperMetricsAutoConfiguration {

  @Bean
  SessionProcessorCustomizer sessionkeeperListenerMeters(ObjectProvider<MeterRegistry> registry) {
    return (listener, queue, processor) ->
        processor.listener(ProcessorMeters.of(registry.getObject(), queue, listener));
  }

  @Bean
  MeterBinder sessionkeeperQueueMeters(QueueProvider provider, QueueDeclarations declared) {
    return registry -> {
      if (provider instanceof InspectableQueues queues) {
        declared.queues().forEach(queue -> QueueMeters.of(queues, queue).bindTo(registry));
      }
    };
  }
}
