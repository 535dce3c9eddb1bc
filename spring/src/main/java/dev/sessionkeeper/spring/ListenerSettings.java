package dev.sessionkeeper.spring;

import dev.sessionkeeper.processor.FailureRule;
import dev.sessionkeeper.processor.ProcessorOptions;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.Optional;

/**
 * What all listeners of an application share.
 *
 * @param options of every processor; a listener may have its own concurrency
 * @param autoStartup whether listeners start with the application
 * @param codecs read payloads
 * @param rules decide about failures, in their order
 * @param customizers change processors before they are built
 * @param transactions for transactional listeners; empty when the queues have none
 */
public record ListenerSettings(
    ProcessorOptions options,
    boolean autoStartup,
    Codecs codecs,
    List<FailureRule> rules,
    List<SessionProcessorCustomizer> customizers,
    ObservationRegistry observations,
    Optional<ListenerTransactions> transactions) {
  public ListenerSettings {
    rules = List.copyOf(rules);
    customizers = List.copyOf(customizers);
  }

  /** Default options, no rules, no observation, no transactions. */
  public static ListenerSettings with(Codecs codecs) {
    return new ListenerSettings(
        ProcessorOptions.ofDefaults(),
        true,
        codecs,
        List.of(),
        List.of(),
        ObservationRegistry.NOOP,
        Optional.empty());
  }
}
