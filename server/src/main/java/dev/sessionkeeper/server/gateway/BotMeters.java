package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.processor.CloseReason;
import dev.sessionkeeper.processor.ProcessorEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The numbers of one pushed bot. Sessions and repositories are never labels. */
final class BotMeters implements Consumer<ProcessorEvent>, AutoCloseable {
  private static final Duration[] DURATIONS =
      Stream.of(1, 5, 10, 30, 60, 300, 1800).map(Duration::ofSeconds).toArray(Duration[]::new);
  private static final double[] COUNTS = {1, 2, 5, 10, 20, 50, 100};

  private final MeterRegistry registry;
  private final String bot;
  private final AtomicInteger active = new AtomicInteger();
  private final AtomicInteger limit = new AtomicInteger();
  private final AtomicInteger open = new AtomicInteger();
  private final ConcurrentHashMap<SessionId, String> entityTypes = new ConcurrentHashMap<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Counter violations;
  private final List<Meter> gauges;

  BotMeters(Bot bot, MeterRegistry registry) {
    this.registry = registry;
    this.bot = bot.name();
    limit(bot.limits().maxConcurrentSessions());
    violations = counter("keeper.order.violations", "Deliveries out of order; must stay 0");
    gauges =
        List.of(
            Gauge.builder("keeper.active.sessions", active, AtomicInteger::get)
                .description(GatewayMeters.ACTIVE)
                .tags(GatewayMeters.scoped(bot))
                .register(registry),
            Gauge.builder("keeper.concurrent.session.utilization", this, BotMeters::utilization)
                .description(GatewayMeters.UTILIZATION)
                .tag("bot_name", this.bot)
                .register(registry),
            Gauge.builder("keeper.push.circuit.open", open, AtomicInteger::get)
                .description("1 while the endpoint is left alone because it is dead")
                .tag("bot_name", this.bot)
                .register(registry));
  }

  void limit(int maxConcurrentSessions) {
    limit.set(maxConcurrentSessions);
  }

  private double utilization() {
    return (double) active.get() / Math.max(1, limit.get());
  }

  @Override
  public void accept(ProcessorEvent event) {
    switch (event) {
      case ProcessorEvent.SessionOpened opened -> active.incrementAndGet();
      case ProcessorEvent.HandlingStarted started ->
          entityTypes.put(
              started.session(),
              started.delivery().message().properties().getOrDefault("entity_type", "none"));
      case ProcessorEvent.SessionClosed closed -> closed(closed);
      case ProcessorEvent.OrderViolated violated -> violations.increment();
      case ProcessorEvent.LeaseLost lost ->
          counter("keeper.leases.lost", "Leases that ran out in somebody's hands").increment();
      case ProcessorEvent.HandlingEnded ended -> {}
      case ProcessorEvent.LeaseRenewed renewed -> {}
      case ProcessorEvent.Failed failed -> {}
    }
  }

  private void closed(ProcessorEvent.SessionClosed closed) {
    active.decrementAndGet();
    var entityType = entityTypes.remove(closed.session());
    Timer.builder("keeper.session.duration")
        .description("How long sessions were held")
        .serviceLevelObjectives(DURATIONS)
        .tag("bot_name", bot)
        .tag("session_outcome", closed.reason().name().toLowerCase(Locale.ROOT))
        .register(registry)
        .record(closed.held());
    DistributionSummary.builder("keeper.session.message.count")
        .description("Messages handled in one hold")
        .serviceLevelObjectives(COUNTS)
        .tag("bot_name", bot)
        .tag("entity_type", entityType == null ? "none" : entityType)
        .register(registry)
        .record(closed.messages());
    timeoutOf(closed.reason());
  }

  private void timeoutOf(CloseReason reason) {
    if (reason == CloseReason.IDLE
        || reason == CloseReason.MAX_DURATION
        || reason == CloseReason.LOCK_LOST) {
      Counter.builder("keeper.session.timeouts")
          .description("Holds that ended by a time limit")
          .tag("bot_name", bot)
          .tag("timeout_reason", reason.name().toLowerCase(Locale.ROOT))
          .register(registry)
          .increment();
    }
  }

  /** A request was answered, or not. */
  void pushed(String outcome, Duration took) {
    Timer.builder("keeper.push.requests")
        .description("Requests to bots by outcome")
        .tag("bot_name", bot)
        .tag("outcome", outcome)
        .register(registry)
        .record(took);
  }

  void circuit(boolean isOpen) {
    open.set(isOpen ? 1 : 0);
    if (isOpen) {
      counter("keeper.push.circuit.trips", "Times an endpoint was found dead").increment();
    }
  }

  private Counter counter(String name, String description) {
    return Counter.builder(name).description(description).tag("bot_name", bot).register(registry);
  }

  /** Takes the gauges away, once; what was counted stays. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      gauges.forEach(registry::remove);
    }
  }
}
