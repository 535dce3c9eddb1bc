package dev.sessionkeeper.server.jobs;

import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;
import java.util.Optional;

/**
 * The settings of job leases, and the retention of data that jobs delete.
 *
 * @param lease how long a node may be silent before another node takes over
 * @param poll the longest time between two polls for due jobs
 * @param deadLetters how long dead letters are kept
 * @param history how long finished runs, repaired payloads and revoked keys are kept
 * @param states how long the state of a session is kept after its last change; for ever if absent
 */
public record JobsConfig(
    Duration lease,
    Duration poll,
    Duration deadLetters,
    Duration history,
    Optional<Duration> states) {
  public static final ConfigSection<JobsConfig> SECTION =
      ConfigSection.of("jobs", JobsConfig::read)
          .restart("lease", "poll")
          .reload("dead_letter_retention", "history_retention", "session_state_retention");

  private static final Duration SECOND = Duration.ofSeconds(1);

  static JobsConfig read(Fields in, ConfigContext context) {
    var lease =
        in.optional(
            "lease", Duration.ofSeconds(15), Decode.duration(SECOND, Duration.ofMinutes(10)));
    var poll =
        in.optional("poll", SECOND, Decode.duration(Duration.ofMillis(50), Duration.ofMinutes(1)));
    var letters =
        in.optional(
            "dead_letter_retention",
            Duration.ofDays(90),
            Decode.duration(Duration.ofMinutes(1), Duration.ofDays(36_500)));
    var history =
        in.optional(
            "history_retention",
            Duration.ofDays(90),
            Decode.duration(Duration.ofMinutes(1), Duration.ofDays(36_500)));
    var states =
        in.optional(
            "session_state_retention",
            Decode.duration(Duration.ofMinutes(1), Duration.ofDays(36_500)));
    in.check();
    return new JobsConfig(lease.get(), poll.get(), letters.get(), history.get(), states.get());
  }
}
