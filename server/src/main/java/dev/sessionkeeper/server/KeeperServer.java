package dev.sessionkeeper.server;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.activity.ActivityRoutes;
import dev.sessionkeeper.server.activity.LastSeen;
import dev.sessionkeeper.server.activity.RememberCallers;
import dev.sessionkeeper.server.bulk.BulkFeature;
import dev.sessionkeeper.server.config.ConfigError;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.InvalidConfig;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.config.ServerConfig;
import dev.sessionkeeper.server.dashboard.Dashboard;
import dev.sessionkeeper.server.dashboard.DashboardConfig;
import dev.sessionkeeper.server.feature.Engine;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.feature.HoldLimits;
import dev.sessionkeeper.server.gateway.GatewayFeature;
import dev.sessionkeeper.server.http.HttpOptions;
import dev.sessionkeeper.server.http.HttpServer;
import dev.sessionkeeper.server.http.OpenApi;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.RouteTable;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.inspect.InspectFeature;
import dev.sessionkeeper.server.jobs.JobsConfig;
import dev.sessionkeeper.server.jobs.JobsFeature;
import dev.sessionkeeper.server.operations.HealthRoutes;
import dev.sessionkeeper.server.operations.Metrics;
import dev.sessionkeeper.server.queues.QueuesFeature;
import dev.sessionkeeper.server.registry.RegistryFeature;
import dev.sessionkeeper.server.retention.RetentionFeature;
import dev.sessionkeeper.server.samples.SamplesFeature;
import dev.sessionkeeper.server.security.AdmitStreamTokens;
import dev.sessionkeeper.server.security.AuditChainRoutes;
import dev.sessionkeeper.server.security.AuditRefusals;
import dev.sessionkeeper.server.security.AuditRoutes;
import dev.sessionkeeper.server.security.CorsConfig;
import dev.sessionkeeper.server.security.Guard;
import dev.sessionkeeper.server.security.KeyRoutes;
import dev.sessionkeeper.server.security.SecurityConfig;
import dev.sessionkeeper.server.security.StreamTokens;
import dev.sessionkeeper.server.streams.StreamsFeature;
import dev.sessionkeeper.server.system.SystemFeature;
import dev.sessionkeeper.server.telemetry.Telemetry;
import dev.sessionkeeper.server.telemetry.TelemetryConfig;
import dev.sessionkeeper.server.telemetry.TraceRequests;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running server: store, features and HTTP. Closing it drains it. */
public final class KeeperServer implements AutoCloseable {
  /** All features of the server, in the order in which they are opened. */
  static final List<Feature.Opener> FEATURES =
      List.of(
          QueuesFeature::open,
          InspectFeature::open,
          StreamsFeature::open,
          RegistryFeature::open,
          GatewayFeature::open,
          SamplesFeature::open);

  /**
   * The audit actor of a reload by signal: the operating system does not say which person sent it.
   */
  private static final Actor SIGNAL = Actor.of("signal");

  private static final Logger log = LoggerFactory.getLogger(KeeperServer.class);
  private static final String TLS = "server.tls";

  private final KeeperConfig config;
  private final List<Feature> features = new ArrayList<>();
  private final List<AutoCloseable> open = new ArrayList<>();
  private final Metrics metrics = opened(new Metrics());
  private final Guard guard;
  private final Telemetry telemetry;
  private final Engine engine;
  private final LastSeen lastSeen;
  private final Reload reload;
  private final RouteTable routes;
  private final AuditRefusals refusals;
  private final HttpServer http;
  private volatile ServerConfig drain;
  private volatile CorsConfig cors;
  private boolean closed;

  private KeeperServer(
      KeeperConfig config,
      Supplier<ConfigSources> sources,
      TimeSource time,
      Supplier<Engine> openEngine,
      Telemetry telemetry) {
    this.config = config;
    this.drain = config.get(ServerConfig.SECTION);
    this.cors = config.get(CorsConfig.SECTION);
    this.telemetry = opened(telemetry);
    try {
      guard = opened(new Guard(config.get(SecurityConfig.SECTION), server().host(), time));
      requireFreePort();
      engine = opened(openEngine.get());
      guard.browsers().use(engine.secret());
      engine
          .database()
          .ifPresent(source -> guard.keys().use(Database.of(source), metrics.registry()));
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
      features.add(opened(SystemFeature.open(context, version())));
      BulkFeature.open(context, features).ifPresent(bulk -> features.add(opened(bulk)));
      RetentionFeature.open(context).ifPresent(keep -> features.add(opened(keep)));
      JobsFeature.open(context, features).ifPresent(jobs -> features.add(opened(jobs)));
      reload = new Reload(config, sources, this::take, engine.audit());
      routes = new RouteTable(allRoutes(time));
      refusals = opened(auditRefusals(time));
      http = opened(listen(time));
      metrics.watch(http);
      // The first look, after all migrations of this release.
      var unused = engine.notReady();
      metrics.watch(engine::notReady, engine.database(), engine.dataFolder(), time);
      if (server().tls().isPresent()) {
        metrics.watch(() -> drain.tls().orElseThrow(), time);
      }
    } catch (RuntimeException e) {
      closeAll();
      throw e;
    }
  }

  /**
   * Starts a server.
   *
   * @param sources gives the configuration anew at each reload
   * @throws KeeperException.Misconfigured with one sentence for the operator
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

  /** Returns the address that the server listens on. */
  public String address() {
    var scheme = server().tls().isPresent() ? "https" : "http";
    var host = server().host().contains(":") ? "[" + server().host() + "]" : server().host();
    return scheme + "://" + host + ":" + http.port();
  }

  public int port() {
    return http.port();
  }

  /** Returns one line that says where the data is. */
  public String description() {
    return engine.description();
  }

  /** Returns whether callers need a credential. */
  public boolean isClosed() {
    return guard.isClosed();
  }

  /**
   * Reads the configuration again and applies the keys that a running server can change. Throws
   * {@code InvalidConfig} and changes nothing if the configuration is wrong. Logs the keys that
   * need a restart.
   */
  public void reload() {
    reload.reload(SIGNAL);
  }

  /** Returns how many requests are being served. */
  public int running() {
    return http.running();
  }

  RouteTable routes() {
    return routes;
  }

  /**
   * Drains and closes the server: readiness turns 503, the server keeps serving for the drain
   * delay, refuses new requests, waits for running ones, then closes features and store.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      http.leave();
      features.forEach(Feature::drain);
      Thread.sleep(drain.drainDelay());
      int unfinished = http.drain(drain.drainTimeout());
      if (unfinished > 0) {
        log.warn("{} requests did not finish in {}", unfinished, drain.drainTimeout());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    closeAll();
    log.info("The server has ended");
  }

  private List<Route> allRoutes(TimeSource time) {
    var all = new ArrayList<Route>();
    features.forEach(feature -> all.addAll(feature.routes()));
    all.addAll(reload.routes());
    all.addAll(new ActivityRoutes(lastSeen, guard::credentials).routes());
    all.addAll(new AuditRoutes(engine.audit()).routes());
    engine
        .database()
        .ifPresent(source -> all.addAll(new AuditChainRoutes(Database.of(source)).routes()));
    all.addAll(
        KeyRoutes.routes(
            guard, () -> lastSeen.times(RememberCallers.CREDENTIAL), () -> http.readmit(), time));
    all.addAll(new HealthRoutes(checks(), degradations()).routes());
    all.addAll(metrics.routes(engine.queues(), time));
    if (config.get(DashboardConfig.SECTION).isEnabled()) {
      all.addAll(dashboard(time).routes());
    }
    all.add(
        Route.get("/openapi.json", Role.ANYONE, Scope.open(), request -> Response.ok(describe()))
            .summary("This description")
            .answers(200, "OpenAPI 3.1", "application/json"));
    return all;
  }

  private Dashboard dashboard(TimeSource time) {
    var settings = config.get(DashboardConfig.SECTION);
    boolean isSecure =
        settings
            .publicUrl()
            .map(url -> "https".equals(url.getScheme()))
            .orElse(server().tls().isPresent());
    return new Dashboard(
        new Dashboard.Parts(
            guard,
            settings,
            isSecure,
            engine.audit(),
            config.get(JobsConfig.SECTION).lease(),
            time,
            this::routes));
  }

  private Map<String, Object> describe() {
    return OpenApi.describe(routes.all(), version());
  }

  private Map<String, Supplier<Optional<String>>> checks() {
    var checks = new LinkedHashMap<String, Supplier<Optional<String>>>();
    checks.put("store", engine::notReady);
    for (var feature : features) {
      checks.put(name(feature), feature::notReady);
    }
    checks.put("draining", () -> http.isLeaving() ? Optional.of("draining") : Optional.empty());
    return checks;
  }

  /** Returns {@code queues} for a {@code QueuesFeature}. */
  private static String name(Feature feature) {
    return feature.getClass().getSimpleName().replaceFirst("Feature$", "").toLowerCase(Locale.ROOT);
  }

  private AuditRefusals auditRefusals(TimeSource time) {
    var traces = new TraceRequests(telemetry.traces().tracer(), metrics);
    return new AuditRefusals(engine.audit(), time, traces);
  }

  private Map<String, Supplier<Optional<String>>> degradations() {
    var degradations = new LinkedHashMap<String, Supplier<Optional<String>>>();
    degradations.put("queues", engine::degraded);
    degradations.put(
        "bots",
        () -> features.stream().flatMap(feature -> feature.degraded().stream()).findFirst());
    return degradations;
  }

  private HttpServer listen(TimeSource time) {
    var options =
        HttpOptions.of(server().host(), server().port()).withOrigins(() -> cors.origins());
    var tls = server().tls().map(KeeperServer::pem);
    try {
      return HttpServer.start(
          tls.map(options::withTls).orElse(options),
          routes,
          new RememberCallers(
              new AdmitStreamTokens(guard, new StreamTokens(engine.secret()), time), lastSeen),
          refusals,
          time);
    } catch (IOException e) {
      throw cannotListen(e);
    }
  }

  /**
   * Refuses a taken port before the store is opened, because opening takes seconds and creates the
   * data folder.
   */
  private void requireFreePort() {
    try (var probe = new ServerSocket()) {
      probe.setReuseAddress(true);
      probe.bind(new InetSocketAddress(server().host(), server().port()));
    } catch (IOException e) {
      throw cannotListen(e);
    }
  }

  private KeeperException.Misconfigured cannotListen(IOException e) {
    return new KeeperException.Misconfigured(
        "Cannot listen on "
            + server().host()
            + ":"
            + server().port()
            + " ("
            + e.getMessage()
            + "); "
            + adviceOnListening(String.valueOf(e.getMessage())),
        e);
  }

  private static String adviceOnListening(String why) {
    if (why.contains("Cannot assign requested address")) {
      return "server.host is no address of this machine";
    }
    if (why.contains("Permission denied")) {
      return "this account may not use that port, choose one over 1023 with --port";
    }
    return "end what uses it, or choose another with --port";
  }

  private static HttpOptions.Tls pem(ServerConfig.Tls tls) {
    return new HttpOptions.Tls(
        tls.certificatePem(), tls.keyPem().reveal(), tls.clientAuthorityPem());
  }

  /**
   * Applies a configuration: first every step that can refuse it, then the steps that cannot fail.
   */
  private List<String> take(KeeperConfig next, Set<String> changed) {
    var errors = features.stream().flatMap(feature -> feature.objectionsTo(next).stream()).toList();
    if (!errors.isEmpty()) {
      throw new InvalidConfig(errors);
    }
    var security = next.get(SecurityConfig.SECTION);
    try (var gate = guard.prepare(security)) {
      if (changed.contains(TLS)) {
        http.replace(pem(next.get(ServerConfig.SECTION).tls().orElseThrow()));
      }
      gate.apply();
    } catch (KeeperException.Misconfigured e) {
      throw refused("security", e);
    } catch (IOException e) {
      throw refused(TLS, e);
    }
    drain = next.get(ServerConfig.SECTION);
    cors = next.get(CorsConfig.SECTION);
    features.forEach(feature -> feature.reconfigure(next));
    http.readmit();
    return security.isClosed() && !security.hasAdmin()
        ? List.of(
            "No credential has the role admin any more; only SIGHUP can reload the configuration")
        : List.of();
  }

  private static InvalidConfig refused(String key, Exception why) {
    var reason = String.valueOf(why.getMessage()).replaceFirst("^\\[SK-\\d+] ", "");
    return new InvalidConfig(List.of(new ConfigError("the configuration", key, reason)));
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
