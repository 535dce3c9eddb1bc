package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.LastValueStore;
import dev.sessionkeeper.coalescing.ListedValues;
import dev.sessionkeeper.coalescing.MemoryLastValueStore;
import dev.sessionkeeper.coalescing.PostgresLastValueStore;
import dev.sessionkeeper.coalescing.WhenFull;
import dev.sessionkeeper.coalescing.WriterHealth;
import dev.sessionkeeper.coalescing.WriterOptions;
import dev.sessionkeeper.cursors.Cursors;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.activity.WriterMeters;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.ReaderPlaces;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.security.StreamTokens;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Streams of events, and the cursors of their subscribers. */
public final class StreamsFeature implements Feature {
  private static final Duration CLOSE = Duration.ofSeconds(5);

  private final TailStreams tails;
  private final ForgetOldEvents forget;
  private final CoalescingWriter<String, String> writer;
  private List<Route> routes;
  private final CurrentConfig config;

  private StreamsFeature(
      Stores stores, CurrentConfig config, MeterRegistry registry, TimeSource time) {
    this.config = config;
    var log = stores.log();
    var cursors = stores.cursors();
    var writerMeters = new WriterMeters(registry, "cursors");
    writer =
        CoalescingWriter.builder(cursors)
            // If the writer is full, the cursor's tracker submits the cursor again; no reader
            // waits.
            .options(WriterOptions.ofDefaults().withWhenFull(new WhenFull.Reject()))
            .time(time)
            .listener(writerMeters)
            .build();
    writerMeters.bind(writer);
    tails = new TailStreams(log, stores.notices());
    forget = new ForgetOldEvents(log, () -> config.get().retention());
    var meters = new StreamMeters(registry, tails);
    var streams =
        new Streams(
            log,
            tails,
            Cursors.of(cursors, writer, time),
            meters,
            new ReaderPlaces(
                () -> config.get().maxReaders(), () -> config.get().maxReadersPerCredential()),
            config,
            time);
    var acknowledge = new Acknowledge(streams);
    var subscribers = stores.subscribers();
    routes =
        Stream.of(
                new StreamRoutes(streams).routes(),
                new ReadRoutes(streams, subscribers, acknowledge).routes(),
                new SubscriberRoutes(streams, stores.listed(), subscribers, acknowledge).routes())
            .flatMap(List::stream)
            .toList();
  }

  /** The stores of events and cursors, and the channel on which nodes notify each other. */
  private record Stores(
      StreamLog log,
      LastValueStore<String, String> cursors,
      ListedValues listed,
      Subscribers subscribers,
      Optional<Notices> notices) {}

  public static Feature open(Context context) {
    var config = context.config().get(StreamsConfig.SECTION);
    var engine = context.engine();
    return engine
        .database()
        .map(
            source ->
                in(Database.of(source), engine.notices(), config, context.meters(), context.time()))
        .orElseGet(() -> inMemory(config, context.meters(), context.time()))
        .granting(new TokenRoutes(new StreamTokens(engine.secret()), context.time()));
  }

  private StreamsFeature granting(TokenRoutes tokens) {
    routes = Stream.concat(routes.stream(), tokens.routes().stream()).toList();
    return this;
  }

  /** Opens streams in a database, after migrating its tables. */
  static StreamsFeature in(
      Database database,
      Optional<Notices> notices,
      StreamsConfig config,
      MeterRegistry registry,
      TimeSource time) {
    Migrations.apply(database.source(), "store");
    Migrations.apply(database.source(), "streams");
    var cursors = PostgresLastValueStore.create(database, "stream-cursors");
    var current = new CurrentConfig(config);
    return new StreamsFeature(
        new Stores(
            new PostgresStreamLog(database),
            cursors,
            cursors,
            new PostgresSubscribers(database, current),
            notices),
        current,
        registry,
        time);
  }

  /** Opens streams that live as long as the process. */
  static StreamsFeature inMemory(StreamsConfig config, MeterRegistry registry, TimeSource time) {
    var cursors = MemoryLastValueStore.<String, String>create();
    var current = new CurrentConfig(config);
    var log = new MemoryStreamLog(() -> current.get().retention(), time);
    return new StreamsFeature(
        new Stores(
            log,
            cursors,
            ListedValues.of(cursors),
            new MemorySubscribers(current, time),
            Optional.empty()),
        current,
        registry,
        time);
  }

  @Override
  public void schedule(Jobs jobs) {
    forget.schedule(jobs);
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
  public void reconfigure(KeeperConfig next) {
    config.set(next.get(StreamsConfig.SECTION));
  }

  @Override
  public void close() {
    tails.close();
    writer.close(CLOSE);
  }
}
