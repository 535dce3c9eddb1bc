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
 * A part of the server: some routes and whatever runs behind them. It runs when {@link Opener#open}
 * returns; the server closes its features in reverse order when it has served the last request.
 *
 * <p>To add one: a {@code ConfigSection} in {@code ReadConfig.SECTIONS}, an opener in {@code
 * KeeperServer.FEATURES}, and routes that name their role, input and answers.
 */
public interface Feature extends AutoCloseable {

  /** Returns the routes of the feature. Called once. */
  List<Route> routes();

  /** Why the server should not get requests now; empty when all is well. Asked often. */
  Optional<String> notReady();

  /** Says which part does not work, although the server should get requests. Asked often. */
  default Optional<String> degraded() {
    return Optional.empty();
  }

  /**
   * Returns objections to a valid configuration that cannot be applied now. Called of every feature
   * before one of them takes it over.
   */
  default List<ConfigError> objectionsTo(KeeperConfig config) {
    return List.of();
  }

  /** Hears that the server is about to end: it finishes what it has begun. Must not fail. */
  default void drain() {}

  /** Names its scheduled work. Asked once, on servers with a database. */
  default void schedule(Jobs jobs) {}

  /** Takes over a new configuration, all of which is valid. Must not fail. */
  void reconfigure(KeeperConfig config);

  @Override
  void close();

  /**
   * The dependencies of a feature.
   *
   * @param holdLimits the limits of held sessions; the feature that has some sets them
   */
  record Context(
      KeeperConfig config,
      Engine engine,
      LastSeen lastSeen,
      MeterRegistry meters,
      TraceMessages traces,
      TimeSource time,
      AtomicReference<HoldLimits> holdLimits) {}

  /** Makes a feature and starts what runs behind it. */
  @FunctionalInterface
  interface Opener {
    Feature open(Context context);
  }
}
