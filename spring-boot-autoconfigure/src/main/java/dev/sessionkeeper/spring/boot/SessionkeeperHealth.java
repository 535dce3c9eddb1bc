package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.RunningListener;
import dev.sessionkeeper.spring.SessionListeners;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports up while the provider answers and no listener was stopped by its poison policy.
 *
 * <p>A paused listener is healthy, because an operator paused it.
 */
final class SessionkeeperHealth extends AbstractHealthIndicator {
  private final QueueProvider provider;
  private final QueueDeclarations declared;
  private final SessionListeners listeners;

  SessionkeeperHealth(
      QueueProvider provider, QueueDeclarations declared, SessionListeners listeners) {
    super("The queues do not answer");
    this.provider = provider;
    this.declared = declared;
    this.listeners = listeners;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    var states = new LinkedHashMap<String, String>();
    boolean stopped = false;
    for (var listener : listeners.all()) {
      states.put(listener.id(), word(listener));
      stopped |= listener.isStoppedByPoison();
    }
    requireAnswer();
    (stopped ? health.outOfService() : health.up())
        .withDetail("provider", provider.capabilities().provider())
        .withDetail("listeners", states);
  }

  /** Asks the provider about queues in use, because credentials may be limited to some queues. */
  private void requireAnswer() {
    var queues = new LinkedHashSet<>(declared.queues());
    listeners.all().forEach(listener -> queues.add(listener.queue()));
    if (queues.isEmpty()) {
      provider.queues();
    }
    queues.forEach(provider::settings);
  }

  private static String word(RunningListener listener) {
    return listener.isStoppedByPoison() ? "STOPPED_BY_POISON_POLICY" : listener.state().name();
  }
}
