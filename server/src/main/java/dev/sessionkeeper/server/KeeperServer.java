package dev.sessionkeeper.server;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.activity.ActivityRoutes;
import dev.sessionkeeper.server.activity.LastSeen;
import dev.sessionkeeper.server.activity.RememberCallers;
import dev.sessionkeeper.server.config.ConfigError;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.config.ServerConfig;
import dev.sessionkeeper.server.gateway.GatewayFeature;
import dev.sessionkeeper.server.http.HttpOptions;
import dev.sessionkeeper.server.http.HttpServer;
import dev.sessionkeeper.server.http.OpenApi;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.RouteTable;
import dev.sessionkeeper.server.jobs.JobsFeature;
import dev.sessionkeeper.server.operations.HealthRoutes;
import dev.sessionkeeper.server.operations.Metrics;
import dev.sessionkeeper.server.operations.StatusPage;
import dev.sessionkeeper.server.queues.QueuesFeature;
import dev.sessionkeeper.server.registry.RegistryFeature;
import dev.sessionkeeper.server.security.Guard;
import dev.sessionkeeper.server.security.SecurityConfig;
import dev.sessionkeeper.server.streams.StreamsFeature;
import dev.sessionkeeper.server.telemetry.Telemetry;
import dev.sessionkeeper.server.telemetry.TelemetryConfig;
import dev.sessionkeeper.server.telemetry.TraceRequests;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running server: store, features and HTTP. Closing it drains it. */
public final class KeeperServer implements AutoCloseable {
  /** All features, in the order in which they are opened. */
  static final List<Feature.Opener> FEATURES =
      List.of(
          QueuesFeature::open, StreamsFeature::open, RegistryFeature::open, GatewayFeature::open);

  private static final Logger log = LoggerFactory.getLogger(KeeperServer.class);

  private final KeeperConfig config;
  private final Metrics metrics = new Metrics();
  private final List<Feature> features = new ArrayList<>();
  private final List<AutoCloseable> open = new ArrayList<>();
  private final Guard guard;
  private final Telemetry telemetry;
  private final Engine engine;
  private final LastSeen lastSeen;
  private final Reload reload;
  private final RouteTable routes;
  private final HttpServer http;
  private boolean closed;

  private KeeperServer(
      KeeperConfig config,
      Supplier<ConfigSources> sources,
      TimeSource time,
      Supplier<Engine> openEngine,
      Telemetry telemetry) {
    this.config = config;
    this.telemetry = opened(telemetry);
    try {
      guard = opened(new Guard(config.get(SecurityConfig.SECTION), server().host(), time));
      engine = opened(openEngine.get());
      lastSeen = opened(LastSeen.open(engine.database(), metrics.registry(), time));
      var context =
          new Feature.Context(
              config,
              engine,
              lastSeen,
              metrics.registry(),
              telemetry.traces(),
              time,
              new AtomicReference<>(HoldLimits.NONE));
      FEATURES.forEach(opener -> features.add(opened(opener.open(context))));
      JobsFeature.open(context, features).ifPresent(jobs -> features.add(opened(jobs)));
      reload = new Reload(config, sources, this::objectionsTo, this::reconfigure);
      routes = new RouteTable(allRoutes());
      http = opened(listen(time));
    } catch (RuntimeException e) {
      closeAll();
      throw e;
    }
  }

  /**
   * Starts a server.
   *
   * @param sources where to read the configuration again from, on a reload
   * @throws KeeperException.Misconfigured with one sentence for the person who starts it
   */
  public static KeeperServer start(
      KeeperConfig config, Supplier<ConfigSources> sources, TimeSource time) {
    return start(
        config,
        sources,
        time,
        () -> OpenEngine.open(config, time),
        Telemetry.open(config.get(TelemetryConfig.SECTION), version()));
  }

  static KeeperServer start(
      KeeperConfig config,
      Supplier<ConfigSources> sources,
      TimeSource time,
      Supplier<Engine> openEngine,
      Telemetry telemetry) {
    return new KeeperServer(config, sources, time, openEngine, telemetry);
  }

  /** Where it listens. */
  public String address() {
    var scheme = server().tls().isPresent() ? "https" : "http";
    var host = server().host().contains(":") ? "[" + server().host() + "]" : server().host();
    return scheme + "://" + host + ":" + http.port();
  }

  public int port() {
    return http.port();
  }

  /** One line about where the data is. */
  public String description() {
    return engine.description();
  }

  /** Whether callers need a credential. */
  public boolean isClosed() {
    return config.get(SecurityConfig.SECTION).isClosed();
  }

  /** Reads the configuration again, or throws {@code InvalidConfig} and changes nothing. */
  public void reload() {
    reload.reload();
  }

  /** How many requests are being served. */
  public int running() {
    return http.running();
  }

  RouteTable routes() {
    return routes;
  }

  /**
   * Says that it is not ready, serves for the drain delay, stops taking requests, lets those that
   * run finish, then closes features and store.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      http.leave();
      Thread.sleep(server().drainDelay());
      int unfinished = http.drain(server().drainTimeout());
      if (unfinished > 0) {
        log.warn("{} requests did not finish in {}", unfinished, server().drainTimeout());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    closeAll();
    log.info("The server has ended");
  }

  private List<Route> allRoutes() {
    var all = new ArrayList<Route>();
    features.forEach(feature -> all.addAll(feature.routes()));
    all.addAll(reload.routes());
    all.addAll(new ActivityRoutes(lastSeen).routes());
    all.addAll(new HealthRoutes(checks()).routes());
    all.addAll(metrics.routes(engine.queues()));
    all.addAll(new StatusPage(engine, version()).routes());
    all.add(
        Route.get("/openapi.json", Role.ANYONE, request -> Response.ok(describe()))
            .summary("This description")
            .answers(200, "OpenAPI 3.1", "application/json"));
    return all;
  }

  private Map<String, Object> describe() {
    return OpenApi.describe(routes.all(), version());
  }

  private Map<String, Supplier<Optional<String>>> checks() {
    var checks = new LinkedHashMap<String, Supplier<Optional<String>>>();
    checks.put("store", engine::notReady);
    for (var feature : features) {
      checks.put(feature.getClass().getSimpleName(), feature::notReady);
    }
    checks.put("draining", () -> http.isLeaving() ? Optional.of("draining") : Optional.empty());
    return checks;
  }

  private HttpServer listen(TimeSource time) {
    var options = HttpOptions.of(server().host(), server().port());
    var tls = server().tls();
    try {
      return HttpServer.start(
          tls.isEmpty()
              ? options
              : options.withTls(
                  new HttpOptions.Tls(
                      tls.get().certificate(), tls.get().key(), tls.get().clientAuthority())),
          routes,
          new RememberCallers(guard, lastSeen),
          new TraceRequests(telemetry.traces().tracer(), metrics),
          time);
    } catch (IOException e) {
      throw new KeeperException.Misconfigured(
          "Cannot listen on "
              + server().host()
              + ":"
              + server().port()
              + " ("
              + e.getMessage()
              + "); end what uses it, or choose another with --port",
          e);
    }
  }

  private List<ConfigError> objectionsTo(KeeperConfig next) {
    return features.stream().flatMap(feature -> feature.objectionsTo(next).stream()).toList();
  }

  private void reconfigure(KeeperConfig next) {
    guard.replace(next.get(SecurityConfig.SECTION));
    features.forEach(feature -> feature.reconfigure(next));
  }

  private ServerConfig server() {
    return config.get(ServerConfig.SECTION);
  }

  private <T extends AutoCloseable> T opened(T part) {
    open.add(part);
    return part;
  }

  private void closeAll() {
    for (var part : open.reversed()) {
      try {
        part.close();
      } catch (Exception e) {
        log.warn("{} did not close", part.getClass().getSimpleName(), e);
      }
    }
  }

  static String version() {
    return Optional.ofNullable(KeeperServer.class.getPackage().getImplementationVersion())
        .orElse("development");
  }
}
