package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.registry.RegistryEvent;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts sessions by kind. */
final class RegistryMeters implements Consumer<RegistryEvent> {
  private static final Logger log = LoggerFactory.getLogger(RegistryMeters.class);
  private static final Duration FRESH = Duration.ofSeconds(10);

  private final MeterRegistry registry;
  private final TimeSource time;
  private Map<Integer, Long> active = Map.of();
  private long countedAt;

  RegistryMeters(MeterRegistry registry, TimeSource time) {
    this.registry = registry;
    this.time = time;
    this.countedAt = time.nanoTime() - FRESH.toNanos();
  }

  /** Shows how many sessions are active; counted when somebody looks, and then not for a while. */
  void watch(SessionRegistry sessions, Set<Integer> kinds) {
    for (var kind : kinds) {
      Gauge.builder("keeper.registered.sessions.active", () -> active(sessions, kind))
          .description("Registered sessions that are active now")
          .tag("kind", Integer.toString(kind))
          .register(registry);
      for (var name : new String[] {"created", "upgraded", "expired", "ended", "renewed"}) {
        counter(name, kind);
      }
    }
  }

  private synchronized double active(SessionRegistry sessions, int kind) {
    if (time.since(countedAt).compareTo(FRESH) >= 0) {
      try {
        active = sessions.activeByKind();
      } catch (RuntimeException e) {
        log.debug("Active sessions could not be counted", e);
      }
      countedAt = time.nanoTime();
    }
    return active.getOrDefault(kind, 0L);
  }

  @Override
  public void accept(RegistryEvent event) {
    switch (event) {
      case RegistryEvent.Created created -> count("created", created.kind());
      case RegistryEvent.Upgraded upgraded -> count("upgraded", upgraded.kind());
      case RegistryEvent.Expired expired -> count("expired", expired.kind());
      case RegistryEvent.Ended ended -> count("ended", ended.kind());
      case RegistryEvent.Renewed renewed -> count("renewed", renewed.kind());
      case RegistryEvent.Found found -> {}
    }
  }

  private void count(String what, int kind) {
    counter(what, kind).increment();
  }

  // Not one name per change: Prometheus keeps the ending "created" for itself.
  private Counter counter(String change, int kind) {
    return Counter.builder("keeper.registered.sessions")
        .description("Registered sessions that were created, upgraded, expired, ended, renewed")
        .tag("change", change)
        .tag("kind", Integer.toString(kind))
        .register(registry);
  }
}
