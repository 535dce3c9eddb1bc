package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.registry.RegistryEvent;
import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.scheduled.RegistryJobs;
import dev.sessionkeeper.registry.usage.Usage;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.usage.UsageConfig;
import dev.sessionkeeper.server.usage.UsageMeters;
import dev.sessionkeeper.server.usage.UsageRoutes;
import dev.sessionkeeper.store.Database;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Registered sessions and their usage. Without a database there are no such routes. */
public final class RegistryFeature implements Feature {
  private final NumberEventsSoon numbering;
  private final KindSamples kinds;
  private final WatchClock clock;
  private final Consumer<Jobs> work;
  private final Usage usage;
  private final List<Route> routes;

  private RegistryFeature(Context context, DataSource source) {
    SessionRegistry.migrate(source);
    var config = context.config();
    var database = Database.of(source);
    numbering = new NumberEventsSoon(database, context.engine().notices(), context.time());
    var meters = new RegistryMeters(context.meters(), context.time());
    var options = options(config).listener(event -> heard(event, meters));
    var registry = SessionRegistry.create(source, options);
    meters.watch(registry, options.kinds().keySet());
    var usageMeters = new UsageMeters(context.meters());
    usage =
        Usage.create(
            source,
            config.get(UsageConfig.SECTION).options().time(context.time()).listener(usageMeters));
    usageMeters.watch(usage, context.meters(), context.time());
    clock = new WatchClock(usage, usageMeters, context.time());
    work =
        jobs -> {
          RegistryJobs.register(
              jobs,
              registry,
              usage,
              numbering::step,
              config.get(RegistryConfig.SECTION).expirySweep());
          config
              .get(UsageConfig.SECTION)
              .retention()
              .ifPresent(age -> RegistryJobs.registerRetention(jobs, usage, age));
        };
    kinds = new KindSamples(registry::activeByKind, options.kinds().values(), context.time());
    kinds.start();
    routes =
        Stream.of(
                List.of(kinds.route()),
                new RegisteredSessionRoutes(registry, options.kinds().keySet()).routes(),
                new UsageRoutes(usage, registry).routes())
            .flatMap(List::stream)
            .toList();
  }

  public static Feature open(Context context) {
    return context
        .engine()
        .database()
        .<Feature>map(source -> new RegistryFeature(context, source))
        .orElseGet(WithoutDatabase::new);
  }

  private static RegistryOptions options(KeeperConfig config) {
    var registry = config.get(RegistryConfig.SECTION);
    return RegistryOptions.of(registry.kinds())
        .lifetime(registry.lifetime())
        .period(config.get(UsageConfig.SECTION).period());
  }

  private void heard(RegistryEvent event, RegistryMeters meters) {
    meters.accept(event);
    if (!(event instanceof RegistryEvent.Found)) {
      numbering.signal();
    }
  }

  @Override
  public List<Route> routes() {
    return routes;
  }

  @Override
  public void schedule(Jobs jobs) {
    work.accept(jobs);
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void reconfigure(KeeperConfig config) {
    var options = config.get(UsageConfig.SECTION).options();
    usage.deliverTo(options.endpoint(), options.signature(), options.guard());
  }

  @Override
  public void close() {
    kinds.close();
    clock.close();
    numbering.close();
  }

  /** Stands in on a server in memory, which must not bill. */
  private static final class WithoutDatabase implements Feature {
    @Override
    public List<Route> routes() {
      return List.of();
    }

    @Override
    public Optional<String> notReady() {
      return Optional.empty();
    }

    @Override
    public void reconfigure(KeeperConfig config) {
      // Nothing runs.
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }
}
