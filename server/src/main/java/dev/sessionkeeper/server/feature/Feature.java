package dev.sessionkeeper.server.feature;

import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.activity.LastSeen;
import dev.sessionkeeper.server.config.ConfigError;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.tracing.TraceMessages;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A part of the server: some routes and the work behind them. A feature runs when {@link
 * Opener#open} returns. The server closes its features in reverse order after the last request.
 *
 * <p>To add one: a {@code ConfigSection} in {@code ReadConfig.SECTIONS}, an opener in {@code
 * KeeperServer.FEATURES}, and routes that name their role, input and answers.
 */
public interface Feature extends AutoCloseable {

  /** Returns the routes of the feature. Called once. */
  List<Route> routes();

  /** Returns why the server should get no requests now; empty if all is well. Called often. */
  Optional<String> notReady();

  /**
   * Returns which part does not work although the server should get requests; empty if all work.
   * Called often.
   */
  default Optional<String> degraded() {
    return Optional.empty();
  }

  /**
   * Returns why a valid configuration cannot be applied now. The server asks every feature before
   * it applies the configuration to any.
   */
  default List<ConfigError> objectionsTo(KeeperConfig config) {
    return List.of();
  }

  /**
   * Prepares for the end of the server: the feature finishes its work in progress. Must not fail.
   */
  default void drain() {}

  /** Returns the replays of stored events, if the feature keeps events. */
  default Optional<EventReplays> eventReplays() {
    return Optional.empty();
  }

  /** Registers the scheduled work of the feature. Called once, on servers with a database. */
  default void schedule(Jobs jobs) {}

  /** Applies a new configuration, to which no feature objected. Must not fail. */
  void reconfigure(KeeperConfig config);

  @Override
  void close();

  /**
   * The dependencies of a feature.
   *
   * @param holdLimits the limits of held sessions; the gateway sets them
   */
  record Context(
      KeeperConfig config,
      Engine engine,
      LastSeen lastSeen,
      MeterRegistry meters,
      TraceMessages traces,
      TimeSource time,
      AtomicReference<HoldLimits> holdLimits) {}

  /** Creates a feature and starts its work. */
  @FunctionalInterface
  interface Opener {
    Feature open(Context context);
  }
}
