package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.cursors.CoalescingWriter;
import dev.sessionkeeper.cursors.Cursors;
import dev.sessionkeeper.cursors.LastValueStore;
import dev.sessionkeeper.cursors.MemoryLastValueStore;
import dev.sessionkeeper.cursors.PostgresLastValueStore;
import dev.sessionkeeper.cursors.WhenFull;
import dev.sessionkeeper.cursors.WriterHealth;
import dev.sessionkeeper.cursors.WriterOptions;
import dev.sessionkeeper.server.Feature;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Streams of events, and the cursors of their subscribers. */
public final class StreamsFeature implements Feature {
  private static final Duration CLOSE = Duration.ofSeconds(5);

  private final TailStreams tails;
  private final ForgetOldEvents forget;
  private final CoalescingWriter<String, String> writer;
  private final List<Route> routes;

  private StreamsFeature(
      StreamLog log,
      LastValueStore<String, String> cursors,
      StreamsConfig config,
      MeterRegistry registry,
      TimeSource time) {
    var writerMeters = new WriterMeters(registry);
    writer =
        CoalescingWriter.builder(cursors)
            // A cursor that finds no room is submitted again by its tracker; no reader waits.
            .options(WriterOptions.ofDefaults().withWhenFull(new WhenFull.Reject()))
            .time(time)
            .listener(writerMeters)
            .build();
    writerMeters.bind(writer);
    tails = new TailStreams(log);
    forget = new ForgetOldEvents(log, config.retention(), time);
    var meters = new StreamMeters(registry, tails);
    var streams = new Streams(log, tails, Cursors.of(cursors, writer, time), meters, config, time);
    routes = new StreamRoutes(streams).routes();
  }

  public static Feature open(Context context) {
    var config = context.config().get(StreamsConfig.SECTION);
    return context
        .engine()
        .database()
        .map(source -> in(Database.of(source), config, context.meters(), context.time()))
        .orElseGet(() -> inMemory(config, context.meters(), context.time()));
  }

  /** Streams in a database, which brings its own tables up to date. */
  static StreamsFeature in(
      Database database, StreamsConfig config, MeterRegistry registry, TimeSource time) {
    Migrations.apply(database.source(), "store");
    return new StreamsFeature(
        new PostgresStreamLog(database),
        PostgresLastValueStore.create(database, "stream-cursors"),
        config,
        registry,
        time);
  }

  /** Streams that live as long as the process. */
  static StreamsFeature inMemory(StreamsConfig config, MeterRegistry registry, TimeSource time) {
    return new StreamsFeature(
        new MemoryStreamLog(time), MemoryLastValueStore.create(), config, registry, time);
  }

  @Override
  public List<Route> routes() {
    return routes;
  }

  @Override
  public Optional<String> notReady() {
    var health = writer.health();
    return health.status() == WriterHealth.Status.DOWN
        ? Optional.of("cursors: " + health.detail())
        : Optional.empty();
  }

  @Override
  public void reconfigure(KeeperConfig config) {
    // Read at the start only: a retention that shrinks by a reload would be hard to take back.
  }

  @Override
  public void close() {
    forget.close();
    tails.close();
    writer.close(CLOSE);
  }
}
