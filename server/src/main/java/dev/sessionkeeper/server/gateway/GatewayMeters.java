package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.processor.CloseReason;
import dev.sessionkeeper.server.operations.Sampled;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/** The metrics of the intake. */
final class GatewayMeters {
  private static final List<String> REFUSALS =
      List.of("not_signed", "wrong_signature", "no_secret");
  private static final double MEGABYTE = 1 << 20;

  private final MeterRegistry registry;
  private final TimeSource time;
  private final QueueProvider queues;
  private final Counter replayed;
  private final MultiGauge thresholds;
  private final MultiGauge sizes;
  private final MultiGauge active;
  private final MultiGauge utilization;
  private volatile ToIntFunction<QueueName> holds = queue -> 0;
  private volatile Map<String, HoldMeters> byQueue = Map.of();
  private volatile Map<String, Sampled<Double>> held = Map.of();

  GatewayMeters(MeterRegistry registry, QueueProvider queues, TimeSource time) {
    this.time = time;
    this.registry = registry;
    this.queues = queues;
    this.active =
        MultiGauge.builder("keeper.active.sessions")
            .description("Held sessions, over all servers")
            .register(registry);
    this.utilization =
        MultiGauge.builder("keeper.concurrent.session.utilization")
            .description("Held sessions divided by the bot's limit, over all servers")
            .register(registry);
    this.sizes =
        MultiGauge.builder("keeper.queue.size.limit")
            .description("The configured size limit of a bot's queue, which is only shown")
            .baseUnit("bytes")
            .register(registry);
    this.thresholds =
        MultiGauge.builder("keeper.queue.depth.threshold")
            .description("The depth above which the alert for this bot fires")
            .register(registry);
    this.replayed =
        Counter.builder("keeper.webhook.replayed")
            .description("Dead letters that were replayed because GitHub redelivered")
            .register(registry);
    // Registers each counter at the start: an alert on an increase would miss the first increment
    // of a new counter.
    REFUSALS.forEach(this::outcome);
    List.of("accepted", "duplicate", "same_body").forEach(this::outcome);
  }

  /** Sets how held sessions of a queue are counted over all servers. */
  void holds(ToIntFunction<QueueName> counting) {
    holds = counting;
  }

  /** Records the end of a hold, whichever server began it. */
  void held(HoldTable.Ended ended, CloseReason reason) {
    Optional.ofNullable(byQueue.get(ended.queue()))
        .ifPresent(bot -> bot.ended(ended.held(), ended.messages(), ended.entityType(), reason));
  }

  void accepted(List<String> bots) {
    count("accepted");
    bots.forEach(bot -> messages(bot).increment());
  }

  private Counter messages(String bot) {
    return Counter.builder("keeper.webhook.messages")
        .description("Messages that were sent to the bot for GitHub events")
        .tag("bot_name", bot)
        .register(registry);
  }

  void duplicate(int count) {
    count("duplicate");
    this.replayed.increment(count);
  }

  /** Counts a signed body that came again under another delivery id. */
  void sameBody() {
    count("same_body");
  }

  void refused(String reason) {
    count(reason.toLowerCase(Locale.ROOT));
  }

  /** Registers the number of deliveries that wait for a transaction. */
  void line(IntSupplier waiting) {
    Gauge.builder("keeper.webhooks.queued", () -> waiting.getAsInt())
        .description("Webhook deliveries that wait for a transaction")
        .register(registry);
  }

  /** Registers each bot's limit, for the alert on queue depth, and its open deliveries. */
  void bots(List<Bot> bots) {
    byQueue =
        bots.stream()
            .collect(
                Collectors.toUnmodifiableMap(
                    bot -> bot.queue().value(), bot -> new HoldMeters(bot.name(), registry)));
    held =
        bots.stream()
            .collect(
                Collectors.toUnmodifiableMap(
                    Bot::name,
                    bot -> new Sampled<>(Double.NaN, () -> count(bot), Duration.ZERO, time)));
    bots.forEach(bot -> messages(bot.name()));
    active.register(rows(bots, GatewayMeters::scoped, this::sessionsOf), true);
    utilization.register(
        rows(
            bots,
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

  /**
   * Returns a bot's held sessions at each scrape. For an unordered bot, the number of open
   * deliveries if the provider can tell.
   */
  private double sessionsOf(Bot bot) {
    var sampled = held.get(bot.name());
    return sampled == null ? Double.NaN : sampled.get();
  }

  private double count(Bot bot) {
    try {
      if (bot.ordering().mode() == QueueMode.ORDERED) {
        return holds.applyAsInt(bot.queue());
      }
      return switch (queues) {
        case InspectableQueues shown -> shown.stats(bot.queue()).heldSessions();
        case CountableQueues counted ->
            counted.counts(bot.queue()).inFlight().stream()
                .asDoubleStream()
                .findFirst()
                .orElse(Double.NaN);
        default -> Double.NaN;
      };
    } catch (KeeperException.UnknownQueue gone) {
      return Double.NaN;
    }
  }

  private void count(String outcome) {
    outcome(outcome).increment();
  }

  private Counter outcome(String outcome) {
    return Counter.builder("keeper.webhooks")
        .description("Deliveries by outcome; a refusal by its reason")
        .tag("outcome", outcome)
        .register(registry);
  }
}
