package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.processor.FailureRule;
import dev.sessionkeeper.processor.ProcessorOptions;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.Codecs;
import dev.sessionkeeper.spring.FindListeners;
import dev.sessionkeeper.spring.ListenerSettings;
import dev.sessionkeeper.spring.ListenerTransactions;
import dev.sessionkeeper.spring.MessageSender;
import dev.sessionkeeper.spring.SessionErrorHandler;
import dev.sessionkeeper.spring.SessionListeners;
import dev.sessionkeeper.spring.SessionProcessorCustomizer;
import dev.sessionkeeper.spring.SessionkeeperTemplate;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import tools.jackson.databind.json.JsonMapper;

/** Declares the beans: provider, queues, listeners and template. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
      "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
      "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
    })
@EnableConfigurationProperties(SessionkeeperProperties.class)
@Import({
  ProviderConfigurations.Memory.class,
  ProviderConfigurations.Postgres.class,
  ProviderConfigurations.Sqs.class,
  ProviderConfigurations.ServiceBus.class,
  ProviderConfigurations.Server.class,
  ProviderConfigurations.Missing.class
})
public final class SessionkeeperAutoConfiguration {
  private static final String PHASE_TIMEOUT = "spring.lifecycle.timeout-per-shutdown-phase";
  private static final Duration DEFAULT_PHASE_TIMEOUT = Duration.ofSeconds(30);

  @Bean
  @ConditionalOnMissingBean
  Codecs sessionkeeperCodecs(ObjectProvider<JsonMapper> mapper) {
    return Codecs.json(mapper.getIfAvailable(() -> JsonMapper.builder().build()));
  }

  @Bean
  static QueueDeclarations sessionkeeperQueues(ObjectProvider<SessionkeeperProperties> properties) {
    return new QueueDeclarations(properties);
  }

  @Bean
  @ConditionalOnMissingBean
  SessionkeeperTemplate sessionkeeperTemplate(
      QueueProvider provider,
      ObjectProvider<MessageSender> senders,
      Codecs codecs,
      ObjectProvider<ObservationRegistry> observations) {
    return new SessionkeeperTemplate(
        senders.getIfUnique(() -> provider::send), codecs, registry(observations));
  }

  @Bean
  @ConditionalOnMissingBean
  ListenerSettings sessionkeeperListenerSettings(
      SessionkeeperProperties properties,
      Codecs codecs,
      Environment environment,
      ObjectProvider<SessionErrorHandler> errorHandlers,
      ObjectProvider<SessionProcessorCustomizer> customizers,
      ObjectProvider<ObservationRegistry> observations,
      ObjectProvider<ListenerTransactions> transactions) {
    var listener = properties.listener();
    requireShorterDrain(listener.drainTimeout(), environment);
    return new ListenerSettings(
        options(listener),
        listener.autoStartup(),
        codecs,
        rules(listener.deadLetterOn(), errorHandlers.orderedStream().toList()),
        customizers.orderedStream().toList(),
        registry(observations),
        Optional.ofNullable(transactions.getIfUnique()));
  }

  @Bean
  @ConditionalOnMissingBean
  SessionListeners sessionkeeperListeners(QueueProvider provider, ListenerSettings settings) {
    return new SessionListeners(provider, settings);
  }

  @Bean
  static FindListeners sessionkeeperFindListeners() {
    return new FindListeners();
  }

  /** Excludes listeners from lazy initialization, because an unused bean would not listen. */
  @Bean
  static LazyInitializationExcludeFilter sessionkeeperEagerListeners() {
    return (name, definition, type) -> FindListeners.hasListeners(type);
  }

  private static ObservationRegistry registry(ObjectProvider<ObservationRegistry> registries) {
    return registries.getIfUnique(() -> ObservationRegistry.NOOP);
  }

  private static ProcessorOptions options(SessionkeeperProperties.Listener listener) {
    return ProcessorOptions.ofDefaults()
        .withMaxConcurrentSessions(listener.concurrency())
        .withDrainTimeout(listener.drainTimeout())
        .withSessionIdleTimeout(listener.sessionIdleTimeout())
        .withPrefetch(listener.prefetch())
        .withRetry(listener.retry().policy());
  }

  private static List<FailureRule> rules(
      List<Class<? extends Throwable>> deadLetterOn, List<SessionErrorHandler> handlers) {
    var rules = new ArrayList<FailureRule>(handlers);
    deadLetterOn.forEach(type -> rules.add(FailureRule.deadLetterOn(type)));
    return rules;
  }

  /**
   * Refuses a drain timeout longer than Spring's shutdown phase, after which Spring closes beans
   * that handlers still use.
   */
  private static void requireShorterDrain(Duration drain, Environment environment) {
    var phase =
        Binder.get(environment).bind(PHASE_TIMEOUT, Duration.class).orElse(DEFAULT_PHASE_TIMEOUT);
    if (drain.compareTo(phase) >= 0) {
      throw new KeeperException.Misconfigured(
          "sessionkeeper.listener.drain-timeout must be shorter than "
              + PHASE_TIMEOUT
              + " ("
              + phase
              + "), was "
              + drain);
    }
  }
}
