package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.processor.ProcessorEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The metrics of one pushed bot. Sessions and repositories are never labels. */
final class BotMeters implements Consumer<ProcessorEvent>, AutoCloseable {
  private final MeterRegistry registry;
  private final String bot;
  private final AtomicInteger open = new AtomicInteger();
  private final ConcurrentHashMap<SessionId, String> entityTypes = new ConcurrentHashMap<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final HoldMeters holds;
  private final Counter violations;
  private final Counter lost;
  private final Counter trips;
  private final List<Meter> gauges;

  BotMeters(Bot bot, MeterRegistry registry) {
    this.registry = registry;
    this.bot = bot.name();
    holds = new HoldMeters(this.bot, registry);
    violations = counter("keeper.order.violations", "Deliveries out of order; must stay 0");
    lost = counter("keeper.leases.lost", "Leases that expired while a consumer held them");
    trips =
        counter(
            "keeper.push.circuit.trips",
            "How often pushes were stopped because the endpoint did not answer");
    PushMessages.OUTCOMES.forEach(this::requests);
    gauges =
        List.of(
            Gauge.builder("keeper.push.circuit.open", open, AtomicInteger::get)
                .description("1 while pushes are stopped because the endpoint does not answer")
                .tag("bot_name", this.bot)
                .register(registry));
  }

  @Override
  public void accept(ProcessorEvent event) {
    switch (event) {
      case ProcessorEvent.SessionOpened opened -> {}
      case ProcessorEvent.HandlingStarted started ->
          entityTypes.put(
              started.session(),
              started.delivery().message().properties().getOrDefault("entity_type", "none"));
      case ProcessorEvent.SessionClosed closed -> closed(closed);
      case ProcessorEvent.OrderViolated violated -> violations.increment();
      case ProcessorEvent.LeaseLost gone -> lost.increment();
      case ProcessorEvent.HandlingEnded ended -> {}
      case ProcessorEvent.LeaseRenewed renewed -> {}
      case ProcessorEvent.Failed failed -> {}
    }
  }

  private void closed(ProcessorEvent.SessionClosed closed) {
    var entityType = entityTypes.remove(closed.session());
    holds.ended(
        closed.held(),
        closed.messages(),
        entityType == null ? "none" : entityType,
        closed.reason());
  }

  /** Records one request to a bot and its outcome. */
  void pushed(String outcome, Duration took) {
    requests(outcome).record(took);
  }

  private Timer requests(String outcome) {
    return Timer.builder("keeper.push.requests")
        .description("Requests to bots by outcome")
        .tag("bot_name", bot)
        .tag("outcome", outcome)
        .register(registry);
  }

  void circuit(boolean isOpen) {
    open.set(isOpen ? 1 : 0);
    if (isOpen) {
      trips.increment();
    }
  }

  private Counter counter(String name, String description) {
    return Counter.builder(name).description(description).tag("bot_name", bot).register(registry);
  }

  /** Removes the gauges, once; counters stay. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      gauges.forEach(registry::remove);
    }
  }
}
