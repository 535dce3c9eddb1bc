package dev.sessionkeeper.server.jobs;

import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;

/**
 * How jobs are leased.
 *
 * @param lease after which silence another node takes over
 * @param poll the longest time between two looks for due jobs
 */
public record JobsConfig(Duration lease, Duration poll) {
  public static final ConfigSection<JobsConfig> SECTION =
      ConfigSection.of("jobs", JobsConfig::read);

  private static final Duration SECOND = Duration.ofSeconds(1);

  static JobsConfig read(Fields in, ConfigContext context) {
    var lease =
        in.optional(
            "lease", Duration.ofSeconds(15), Decode.duration(SECOND, Duration.ofMinutes(10)));
    var poll =
        in.optional("poll", SECOND, Decode.duration(Duration.ofMillis(50), Duration.ofMinutes(1)));
    in.check();
    return new JobsConfig(lease.get(), poll.get());
  }
}
