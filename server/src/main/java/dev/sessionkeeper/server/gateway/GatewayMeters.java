package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.Bot;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.Locale;

/** The numbers of the intake. */
final class GatewayMeters {
  private final MeterRegistry registry;
  private final MultiGauge thresholds;

  GatewayMeters(MeterRegistry registry) {
    this.registry = registry;
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

  /** For the alert on queue depth: what each bot allows. */
  void bots(List<Bot> bots) {
    thresholds.register(
        bots.stream()
            .<MultiGauge.Row<?>>map(
                bot ->
                    MultiGauge.Row.of(
                        Tags.of("bot_name", bot.name(), "queue", bot.queue().value()),
                        bot.limits().queueDepthThreshold()))
            .toList(),
        true);
  }

  private void count(String outcome) {
    Counter.builder("keeper.webhooks")
        .description("Deliveries by outcome; a refusal by its reason")
        .tag("outcome", outcome)
        .register(registry)
        .increment();
  }
}
