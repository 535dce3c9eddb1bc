package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.SessionListeners;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Health of provider and listeners. */
@AutoConfiguration(after = SessionkeeperAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(SessionListeners.class)
@ConditionalOnEnabledHealthIndicator("sessionkeeper")
public final class SessionkeeperHealthAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(name = "sessionkeeperHealthIndicator")
  SessionkeeperHealth sessionkeeperHealthIndicator(
      QueueProvider provider, QueueDeclarations declared, SessionListeners listeners) {
    return new SessionkeeperHealth(provider, declared, listeners);
  }
}
