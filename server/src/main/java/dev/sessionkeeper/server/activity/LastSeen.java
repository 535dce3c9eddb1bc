package dev.sessionkeeper.server.activity;

import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.LastValueStore;
import dev.sessionkeeper.coalescing.ListedValues;
import dev.sessionkeeper.coalescing.MemoryLastValueStore;
import dev.sessionkeeper.coalescing.PostgresLastSeen;
import dev.sessionkeeper.coalescing.WhenFull;
import dev.sessionkeeper.coalescing.WriterOptions;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/**
 * Records when a credential, a node or another caller was last seen. Callers may report every
 * request: about once a second the newest time of each name is written, and no caller waits for the
 * write.
 */
public final class LastSeen implements AutoCloseable {
  private static final Duration LINGER = Duration.ofSeconds(1);
  private static final Duration CLOSE = Duration.ofSeconds(2);
  private static final int MOST_SHOWN = 1_000;

  private final CoalescingWriter<String, String> writer;
  private final ListedValues listed;
  private final TimeSource time;

  private <S extends LastValueStore<String, String>> LastSeen(
      S store, ListedValues listed, MeterRegistry registry, TimeSource time) {
    this.listed = listed;
    this.time = time;
    var meters = new WriterMeters(registry, "last-seen");
    writer =
        CoalescingWriter.builder(store)
            .options(
                WriterOptions.ofDefaults()
                    .withStripes(1)
                    .withLinger(LINGER, LINGER.multipliedBy(5))
                    // Reject when full: the next request reports the caller again, and the event
                    // loop must not wait.
                    .withWhenFull(new WhenFull.Reject()))
            .time(time)
            .listener(meters)
            .build();
    meters.bind(writer);
  }

  /** Records in the database, or in memory if there is none. */
  public static LastSeen open(
      Optional<DataSource> database, MeterRegistry registry, TimeSource time) {
    if (database.isEmpty()) {
      var store = MemoryLastValueStore.<String, String>create();
      return new LastSeen(store, ListedValues.of(store), registry, time);
    }
    var store = PostgresLastSeen.create(Database.of(database.get()), "last-seen");
    return new LastSeen(store, store, registry, time);
  }

  /** When a caller was last seen. */
  public record Sight(String name, Instant lastSeenAt) {}

  /**
   * Records that the caller was seen now. Never blocks.
   *
   * @param kind such as {@code credential}; without a slash
   */
  public void seen(String kind, String name) {
    var now = ChronoUnit.MICROS.between(Instant.EPOCH, time.instant());
    writer.submit(kind + "/" + name, now, "");
  }

  /** Returns all callers of a kind that were ever seen, by name; at most 1,000. */
  public List<Sight> list(String kind) {
    var prefix = kind + "/";
    return listed.startingWith(prefix, MOST_SHOWN).stream()
        .map(
            entry ->
                new Sight(
                    entry.key().substring(prefix.length()),
                    Instant.EPOCH.plus(entry.version(), ChronoUnit.MICROS)))
        .toList();
  }

  /** Returns when each caller of a kind was last seen, by name; at most 1,000. */
  public Map<String, Instant> times(String kind) {
    return list(kind).stream()
        .collect(Collectors.toMap(Sight::name, Sight::lastSeenAt, (first, second) -> first));
  }

  @Override
  public void close() {
    writer.close(CLOSE);
  }
}
