package dev.sessionkeeper.spring.boot.test;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.ListenerTransactions;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The probe of a test, and transactional listeners on queues in memory. */
@AutoConfiguration
public final class SessionkeeperTestAutoConfiguration {

  @Bean
  SessionkeeperProbe sessionkeeperProbe(ObjectProvider<QueueProvider> provider) {
    return new SessionkeeperProbe(provider);
  }

  @Bean
  @ConditionalOnMissingBean(ListenerTransactions.class)
  ListenerTransactions sessionkeeperNoTransactions() {
    return new NoTransactions();
  }
}
