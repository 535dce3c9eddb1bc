package dev.sessionkeeper.spi;

import dev.sessionkeeper.Limits;
import java.util.Map;
import java.util.Optional;

/**
 * The parts of the contract that a provider keeps and cannot keep. A rule that is named impossible
 * here is skipped by the test kit, with the reason, and never shown as green.
 *
 * @param provider the technology, for messages: {@code memory}, {@code postgres}, {@code sqs},
 *     {@code servicebus}
 * @param limits what one send may hold
 * @param durable whether an acknowledged send survives the death of the process
 * @param atomicBatches whether a batch is stored as a whole or not at all
 * @param parksSessions whether {@code Settlement.Park} and the poison policy PARK_SESSION are
 *     possible
 * @param impossible the rules of the contract that cannot be kept, each with its reason
 */
public record Capabilities(
    String provider,
    Limits limits,
    boolean durable,
    boolean atomicBatches,
    boolean parksSessions,
    Map<String, String> impossible) {
  public Capabilities {
    impossible = Map.copyOf(impossible);
  }

  /** Returns why this provider cannot keep a rule; empty if the provider keeps the rule. */
  public Optional<String> reasonAgainst(String rule) {
    return Optional.ofNullable(impossible.get(rule));
  }
}
