package dev.sessionkeeper.spring;

import dev.sessionkeeper.processor.FailureRule;
import dev.sessionkeeper.processor.ProcessorOptions;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.Optional;

/**
 * The settings that all listeners of an application share.
 *
 * @param options the options of every processor; the queue sets the number of attempts, and a
 *     listener may set its own concurrency
 * @param autoStartup whether listeners start with the application
 * @param codecs the codecs of payloads
 * @param rules the rules that decide about failures, in their order
 * @param customizers the customizers of processors, in their order
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

  /** Returns default settings: no rules, no observation, no transactions. */
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
