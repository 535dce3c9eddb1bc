package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;

/**
 * The settings of streams and their readers.
 *
 * @param retention how long events are kept
 * @param heartbeat how long a stream is silent before a reader gets a comment
 * @param slowReader how long a reader may take nothing before it is disconnected
 * @param maxReaders the most connections
 * @param maxReadersPerCredential the most connections of one credential
 * @param maxSubscribers the most named subscribers of one stream
 * @param maxSubscribersPerCredential the most named subscribers that one credential created
 * @param requireAcknowledgement whether no read moves the position of a subscriber
 */
public record StreamsConfig(
    Duration retention,
    Duration heartbeat,
    Duration slowReader,
    int maxReaders,
    int maxReadersPerCredential,
    int maxSubscribers,
    int maxSubscribersPerCredential,
    boolean requireAcknowledgement) {
  public static final ConfigSection<StreamsConfig> SECTION =
      ConfigSection.of("streams", StreamsConfig::read)
          .reload(
              "retention",
              "heartbeat",
              "slow_reader",
              "max_readers",
              "max_readers_per_credential",
              "max_subscribers",
              "max_subscribers_per_credential",
              "require_acknowledgement");

  /**
   * Returns the defaults: 7 days of retention, a heartbeat every 15 seconds, 30 seconds for slow
   * readers, 5,000 readers.
   */
  public static StreamsConfig ofDefaults() {
    return of(Duration.ofDays(7), Duration.ofSeconds(15), Duration.ofSeconds(30), 5_000);
  }

  /**
   * Returns settings whose other limits are derived: a quarter of the readers for one credential;
   * 1,000 subscribers of a stream, 100 of a credential.
   */
  static StreamsConfig of(
      Duration retention, Duration heartbeat, Duration slowReader, int maxReaders) {
    return new StreamsConfig(
        retention, heartbeat, slowReader, maxReaders, quarter(maxReaders), 1_000, 100, false);
  }

  private static int quarter(int readers) {
    return Math.max(1, readers / 4);
  }

  Subscribers.Limits subscriberLimits() {
    return new Subscribers.Limits(maxSubscribers, maxSubscribersPerCredential);
  }

  static StreamsConfig read(Fields in, ConfigContext context) {
    var usual = ofDefaults();
    var second = Duration.ofSeconds(1);
    var retention =
        in.optional("retention", usual.retention(), Decode.duration(second, Duration.ofDays(3660)));
    // At most a minute, because the server closes connections that were silent for 90 seconds.
    var heartbeat =
        in.optional("heartbeat", usual.heartbeat(), Decode.duration(second, Duration.ofMinutes(1)));
    var slow =
        in.optional(
            "slow_reader", usual.slowReader(), Decode.duration(second, Duration.ofMinutes(1)));
    var readers = in.optional("max_readers", usual.maxReaders(), Decode.integer(1, 100_000));
    var ofCredential = in.optional("max_readers_per_credential", Decode.integer(1, 100_000));
    var subscribers =
        in.optional("max_subscribers", usual.maxSubscribers(), Decode.integer(1, 1_000));
    var subscribersOfCredential =
        in.optional(
            "max_subscribers_per_credential",
            usual.maxSubscribersPerCredential(),
            Decode.integer(1, 100_000));
    var required = in.optional("require_acknowledgement", false, Decode.bool());
    in.check();
    return new StreamsConfig(
        retention.get(),
        heartbeat.get(),
        slow.get(),
        readers.get(),
        ofCredential.get().orElseGet(() -> quarter(readers.get())),
        subscribers.get(),
        subscribersOfCredential.get(),
        required.get());
  }
}
