package dev.sessionkeeper.spring.boot.test;

import dev.sessionkeeper.spi.QueueProvider;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/** The probe of a test. */
@AutoConfiguration
public final class SessionkeeperTestAutoConfiguration {

  @Bean
  SessionkeeperProbe sessionkeeperProbe(ObjectProvider<QueueProvider> provider) {
    return new SessionkeeperProbe(provider);
  }
}
