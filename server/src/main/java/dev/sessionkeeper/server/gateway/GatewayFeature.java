package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.server.config.ConfigError;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.EventReplays;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Receives, stores, routes, pushes, searches and replays GitHub events. */
public final class GatewayFeature implements Feature {
  /**
   * The most concurrent transactions of the intake: while one waits for its commit, the other
   * works.
   */
  private static final int GROUPS = 2;

  private static final Logger log = LoggerFactory.getLogger(GatewayFeature.class);

  private final ServeBots bots;
  private final Outbox outbox;
  private final boolean isElsewhere;
  private final LimitHolds limits;
  private final List<Route> routes;
  private final ReplayEvents replays;
  private volatile Duration retention;

  private GatewayFeature(Context context, DataSource source) {
    var queues = context.engine().queues();
    Migrations.apply(source, "store");
    Migrations.apply(source, "gateway");
    var database = Database.of(source);
    var meters = new GatewayMeters(context.meters(), queues, context.time());
    outbox = outbox(source, queues, context.time());
    isElsewhere = !(queues instanceof PostgresQueueProvider);
    retention = context.config().get(GithubConfig.SECTION).retention();
    limits = new LimitHolds(database, () -> currentBots(), meters, context.time());
    bots =
        new ServeBots(
            queues,
            new PushBots(
                new LimitedQueues(queues, limits),
                database,
                context.meters(),
                context.traces(),
                new StoreTime(database, context.time())),
            meters,
            context.time());
    meters.holds(limits::count);
    context.holdLimits().set(limits);
    var letters = new ReplayDeadLetters(queues);
    var accept = new AcceptDelivery(database, outbox, GROUPS);
    meters.line(accept::waiting);
    replays = new ReplayEvents(database, outbox, letters, () -> bots.current().bots());
    routes =
        Stream.of(
                new WebhookRoutes(bots::current, accept, letters, meters).routes(),
                new EventRoutes(new FindEvents(database, () -> bots.current().bots()), replays)
                    .routes())
            .flatMap(List::stream)
            .toList();
  }

  /** Opens the feature; without a database there is no place for events, and so no gateway. */
  public static Feature open(Context context) {
    var source = context.engine().database();
    if (source.isEmpty()) {
      return new NoGateway(context.config());
    }
    var feature = new GatewayFeature(context, source.get());
    try {
      feature.start(context.config());
      return feature;
    } catch (RuntimeException e) {
      feature.close();
      throw e;
    }
  }

  private void start(KeeperConfig config) {
    var routing = Routing.of(config);
    try {
      var objections = bots.objectionsTo(routing.bots());
      if (!objections.isEmpty()) {
        throw new KeeperException.Misconfigured(
            String.join("; ", objections.stream().map(ConfigError::toString).toList()));
      }
      bots.start(routing);
    } catch (KeeperException.Unavailable | KeeperException.OutcomeUnknown e) {
      if (!isElsewhere) {
        throw e;
      }
      log.warn("The queues of the bots do not answer; events wait in the store: {}", e.toString());
      bots.startLater(routing);
    }
    limits.start();
  }

  private List<Bot> currentBots() {
    return bots.current().bots();
  }

  private static Outbox outbox(DataSource source, QueueProvider queues, TimeSource time) {
    return queues instanceof PostgresQueueProvider store
        ? new StoreOutbox(store)
        : RelayOutbox.start(
            PostgresQueueProvider.create(source, PostgresOptions.ofDefaults(), time), queues, time);
  }

  @Override
  public List<Route> routes() {
    return routes;
  }

  @Override
  public Optional<EventReplays> eventReplays() {
    return Optional.of(replays);
  }

  @Override
  public void schedule(Jobs jobs) {
    new ForgetOldEvents(() -> retention).schedule(jobs);
  }

  @Override
  public Optional<String> notReady() {
    return isElsewhere ? Optional.empty() : bots.notReady();
  }

  @Override
  public Optional<String> degraded() {
    return isElsewhere ? bots.notReady() : Optional.empty();
  }

  @Override
  public List<ConfigError> objectionsTo(KeeperConfig config) {
    try {
      return bots.objectionsTo(config.get(BotsConfig.SECTION).bots());
    } catch (KeeperException.Unavailable e) {
      if (!isElsewhere) {
        throw e;
      }
      return List.of(); // The bots take effect when the queues answer again.
    }
  }

  @Override
  public void reconfigure(KeeperConfig config) {
    retention = config.get(GithubConfig.SECTION).retention();
    if (isElsewhere) {
      bots.startLater(Routing.of(config));
    } else {
      bots.change(Routing.of(config));
    }
  }

  @Override
  public void close() {
    bots.close();
    limits.close();
    outbox.close();
  }

  /** Stands in for the gateway on a server that keeps everything in memory. */
  private static final class NoGateway implements Feature {
    NoGateway(KeeperConfig config) {
      var objections = objectionsTo(config);
      if (!objections.isEmpty()) {
        throw new KeeperException.Misconfigured(objections.getFirst().toString());
      }
    }

    @Override
    public List<Route> routes() {
      return List.of();
    }

    @Override
    public Optional<String> notReady() {
      return Optional.empty();
    }

    @Override
    public List<ConfigError> objectionsTo(KeeperConfig config) {
      var errors = new ArrayList<ConfigError>();
      if (!config.get(BotsConfig.SECTION).bots().isEmpty()) {
        errors.add(new ConfigError("bots", "bots", "need a database; set store.url"));
      }
      return errors;
    }

    @Override
    public void reconfigure(KeeperConfig config) {
      // There is no configuration to change.
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }
}
