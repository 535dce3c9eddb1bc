package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueProvider;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.ToDoubleFunction;

/** The numbers of the intake. */
final class GatewayMeters {
  static final String ACTIVE = "Sessions in hand";
  static final String UTILIZATION = "Sessions in hand by those allowed";

  private static final double MEGABYTE = 1 << 20;

  private final MeterRegistry registry;
  private final QueueProvider queues;
  private final MultiGauge thresholds;
  private final MultiGauge sizes;
  private final MultiGauge active;
  private final MultiGauge utilization;

  GatewayMeters(MeterRegistry registry, QueueProvider queues) {
    this.registry = registry;
    this.queues = queues;
    this.active =
        MultiGauge.builder("keeper.active.sessions").description(ACTIVE).register(registry);
    this.utilization =
        MultiGauge.builder("keeper.concurrent.session.utilization")
            .description(UTILIZATION)
            .register(registry);
    this.sizes =
        MultiGauge.builder("keeper.queue.size.limit")
            .description("What a bot's queue may hold according to its configuration")
            .baseUnit("bytes")
            .register(registry);
    this.thresholds =
        MultiGauge.builder("keeper.queue.depth.threshold")
            .description("Waiting messages of a bot over which an alert is raised")
            .register(registry);
  }

  void accepted(List<String> bots) {
    count("accepted");
    bots.forEach(
        bot ->
            Counter.builder("keeper.webhook.messages")
                .description("Messages made of deliveries")
                .tag("bot_name", bot)
                .register(registry)
                .increment());
  }

  void duplicate(int revived) {
    count("duplicate");
    Counter.builder("keeper.webhook.revived")
        .description("Dead letters put back because GitHub delivered again")
        .register(registry)
        .increment(revived);
  }

  void refused(String reason) {
    count(reason.toLowerCase(Locale.ROOT));
  }

  /** Deliveries that are in line for a transaction. */
  void line(IntSupplier waiting) {
    Gauge.builder("keeper.webhooks.waiting", () -> waiting.getAsInt())
        .description("Deliveries that wait to be stored together")
        .register(registry);
  }

  /** What each bot allows, for the alert on queue depth; what is in the hands of those who pull. */
  void bots(List<Bot> bots) {
    var pulled =
        queues instanceof InspectableQueues
            ? bots.stream().filter(bot -> bot.deliver().isEmpty()).toList()
            : List.<Bot>of();
    active.register(rows(pulled, GatewayMeters::scoped, this::sessionsOf), true);
    utilization.register(
        rows(
            pulled,
            bot -> Tags.of("bot_name", bot.name()),
            bot -> sessionsOf(bot) / bot.limits().maxConcurrentSessions()),
        true);
    thresholds.register(
        rows(bots, GatewayMeters::queued, bot -> bot.limits().queueDepthThreshold()), true);
    sizes.register(
        rows(bots, GatewayMeters::queued, bot -> bot.limits().maxSizeInMegabytes() * MEGABYTE),
        true);
  }

  private static List<MultiGauge.Row<?>> rows(
      List<Bot> bots, Function<Bot, Tags> tags, ToDoubleFunction<Bot> number) {
    return bots.stream()
        .<MultiGauge.Row<?>>map(bot -> MultiGauge.Row.of(tags.apply(bot), bot, number))
        .toList();
  }

  private static Tags queued(Bot bot) {
    return Tags.of("bot_name", bot.name(), "queue", bot.queue().value());
  }

  static Tags scoped(Bot bot) {
    return Tags.of(
        "bot_name",
        bot.name(),
        "ordering_scope",
        bot.ordering().scope().name().toLowerCase(Locale.ROOT));
  }

  /** Those of all who pull, through this server or another one; asked for at every look. */
  private double sessionsOf(Bot bot) {
    try {
      return queues instanceof InspectableQueues shown
          ? shown.stats(bot.queue()).heldSessions()
          : Double.NaN;
    } catch (KeeperException unknown) {
      return Double.NaN;
    }
  }

  private void count(String outcome) {
    Counter.builder("keeper.webhooks")
        .description("Deliveries by outcome; a refusal by its reason")
        .tag("outcome", outcome)
        .register(registry)
        .increment();
  }
}
