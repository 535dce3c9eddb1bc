package dev.sessionkeeper.github;

import dev.sessionkeeper.time.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Reads the key {@code retry} of a bot. */
final class BindRetry {
  private static final List<String> KEYS = List.of("first", "factor", "max", "for");
  private static final Duration LEAST = Duration.ofMillis(100);

  private final BotValues bot;

  BindRetry(BotValues bot) {
    this.bot = bot;
  }

  /**
   * Returns the schedule; the default one if the key is missing or invalid, which is then recorded.
   */
  RetrySchedule bind() {
    var byDefault = RetrySchedule.ofDefaults();
    var given = bot.get(BotKey.RETRY.key());
    if (given.isEmpty()) {
      return byDefault;
    }
    var path = bot.pathOf(BotKey.RETRY.key());
    if (!(given.get() instanceof Map<?, ?> map)) {
      bot.note(path, "must have some of " + BotKey.RETRY.allowed());
      return byDefault;
    }
    var retry = bot.inside(path);
    retry.add(path, map, KEYS);
    var first =
        retry
            .duration("first", "100ms to 1h", LEAST, Duration.ofHours(1))
            .orElse(byDefault.first());
    var factor = retry.decimal("factor", 1, 10).orElse(byDefault.factor());
    var max =
        retry
            .duration("max", "100ms to 24h", LEAST, Duration.ofHours(24))
            // If the first delay exceeds the default longest delay, the longest delay becomes the
            // first.
            .orElse(longer(first, byDefault.max()));
    var limit =
        retry
            .duration("for", "1s to 366d", Duration.ofSeconds(1), Duration.ofDays(366))
            .orElse(byDefault.limit());
    if (first.compareTo(max) > 0) {
      retry.note(
          retry.pathOf("max"),
          "must not be shorter than first ("
              + DurationText.readable(first)
              + "), was "
              + DurationText.readable(max));
      return byDefault;
    }
    return new RetrySchedule(first, factor, max, limit);
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }
}
