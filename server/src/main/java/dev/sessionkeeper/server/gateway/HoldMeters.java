package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.processor.CloseReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The metrics of a bot's finished holds. Sessions and repositories are never labels. */
final class HoldMeters {
  private static final Duration[] DURATIONS =
      Stream.of(1, 5, 10, 30, 60, 300, 1800).map(Duration::ofSeconds).toArray(Duration[]::new);
  private static final double[] COUNTS = {1, 2, 5, 10, 20, 50, 100};
  private static final List<CloseReason> TIMEOUTS =
      List.of(CloseReason.IDLE, CloseReason.MAX_DURATION, CloseReason.LOCK_LOST);

  private final MeterRegistry registry;
  private final String bot;

  /** Counters exist from the start: an alert on their increase would miss the first one. */
  HoldMeters(String bot, MeterRegistry registry) {
    this.registry = registry;
    this.bot = bot;
    TIMEOUTS.forEach(this::timeouts);
    Stream.of(CloseReason.values()).forEach(this::duration);
  }

  void ended(Duration held, int messages, String entityType, CloseReason reason) {
    duration(reason).record(held);
    DistributionSummary.builder("keeper.session.message.count")
        .description("Messages handled in one hold")
        .serviceLevelObjectives(COUNTS)
        .tag("bot_name", bot)
        .tag("entity_type", entityType)
        .register(registry)
        .record(messages);
    if (TIMEOUTS.contains(reason)) {
      timeouts(reason).increment();
    }
  }

  private Timer duration(CloseReason reason) {
    return Timer.builder("keeper.session.duration")
        .description("How long sessions were held")
        .serviceLevelObjectives(DURATIONS)
        .tag("bot_name", bot)
        .tag("session_outcome", word(reason))
        .register(registry);
  }

  private Counter timeouts(CloseReason reason) {
    return Counter.builder("keeper.session.timeouts")
        .description("Holds that ended by a time limit")
        .tag("bot_name", bot)
        .tag("timeout_reason", word(reason))
        .register(registry);
  }

  private static String word(CloseReason reason) {
    return reason.name().toLowerCase(Locale.ROOT);
  }
}
