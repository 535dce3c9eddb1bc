package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.registry.RegistryEvent;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.server.operations.Sampled;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Counts registered sessions by kind. */
final class RegistryMeters implements Consumer<RegistryEvent> {
  private static final Duration FRESH = Duration.ofSeconds(10);

  private final MeterRegistry registry;
  private final TimeSource time;

  RegistryMeters(MeterRegistry registry, TimeSource time) {
    this.registry = registry;
    this.time = time;
  }

  /** Exposes the number of active sessions, counted at a scrape and then cached. */
  void watch(SessionRegistry sessions, Set<Integer> kinds) {
    var active = new Sampled<Map<Integer, Long>>(Map.of(), sessions::activeByKind, FRESH, time);
    for (var kind : kinds) {
      Gauge.builder("keeper.registered.sessions.active", () -> active.get().getOrDefault(kind, 0L))
          .description("Registered sessions that are active now")
          .tag("kind", Integer.toString(kind))
          .register(registry);
      for (var name : new String[] {"created", "upgraded", "expired", "ended", "renewed"}) {
        counter(name, kind);
      }
    }
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

  // One metric name with a label, because Prometheus reserves the suffix "_created".
  private Counter counter(String change, int kind) {
    return Counter.builder("keeper.registered.sessions")
        .description("Registered sessions that were created, upgraded, expired, ended, renewed")
        .tag("change", change)
        .tag("kind", Integer.toString(kind))
        .register(registry);
  }
}
