package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;

/**
 * How streams are kept and read.
 *
 * @param retention how long events are kept
 * @param heartbeat after so much silence a reader gets a comment
 * @param slowReader a reader that takes nothing for so long is disconnected
 * @param maxReaders connections at one time
 */
public record StreamsConfig(
    Duration retention, Duration heartbeat, Duration slowReader, int maxReaders) {
  public static final ConfigSection<StreamsConfig> SECTION =
      ConfigSection.of("streams", StreamsConfig::read)
          .reload("retention", "heartbeat", "slow_reader", "max_readers");

  /** 7 days, 15 seconds, 30 seconds, 5,000 readers. */
  public static StreamsConfig ofDefaults() {
    return new StreamsConfig(
        Duration.ofDays(7), Duration.ofSeconds(15), Duration.ofSeconds(30), 5_000);
  }

  static StreamsConfig read(Fields in, ConfigContext context) {
    var usual = ofDefaults();
    var second = Duration.ofSeconds(1);
    var retention =
        in.optional("retention", usual.retention(), Decode.duration(second, Duration.ofDays(3660)));
    // Not over a minute: the server ends connections that were silent for 90 seconds.
    var heartbeat =
        in.optional("heartbeat", usual.heartbeat(), Decode.duration(second, Duration.ofMinutes(1)));
    var slow =
        in.optional(
            "slow_reader", usual.slowReader(), Decode.duration(second, Duration.ofMinutes(1)));
    var readers = in.optional("max_readers", usual.maxReaders(), Decode.integer(1, 100_000));
    in.check();
    return new StreamsConfig(retention.get(), heartbeat.get(), slow.get(), readers.get());
  }
}
