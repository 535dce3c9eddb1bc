package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.SessionListeners;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The actuator endpoint {@code sessionkeeper}. */
@AutoConfiguration(after = SessionkeeperAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(SessionListeners.class)
@ConditionalOnAvailableEndpoint(SessionkeeperEndpoint.class)
public final class SessionkeeperEndpointAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  SessionkeeperEndpoint sessionkeeperEndpoint(QueueProvider provider, SessionListeners listeners) {
    return new SessionkeeperEndpoint(provider, listeners);
  }
}
