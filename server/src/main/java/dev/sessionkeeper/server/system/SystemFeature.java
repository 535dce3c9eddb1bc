package dev.sessionkeeper.server.system;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.gateway.BotsConfig;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.store.Database;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Shows the server itself: nodes, store, settings, bots, and the newest events of streams. */
public final class SystemFeature implements Feature {
  private final Context context;
  private final String version;
  private final Beat beat;
  private final Optional<Database> database;
  private volatile KeeperConfig config;

  private SystemFeature(Context context, String version) {
    this.context = context;
    this.version = version;
    this.config = context.config();
    this.database = context.engine().database().map(Database::of);
    this.beat = new Beat(context.lastSeen(), context.time(), nodeName(), version);
    beat.start();
  }

  public static Feature open(Context context, String version) {
    return new SystemFeature(context, version);
  }

  private static String nodeName() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      host = "localhost";
    }
    return host + ":" + ProcessHandle.current().pid();
  }

  @Override
  public List<Route> routes() {
    var routes = new ArrayList<Route>();
    var system = Scope.server("The system");
    routes.add(
        Route.get("/nodes", Role.READ, system, request -> Response.ok(new Nodes(beat.nodes())))
            .summary("The servers of this store that reported within the last hour")
            .answers(200, "By name", Nodes.class));
    routes.add(
        Route.get("/system", Role.READ, system, this::show)
            .summary("This server: version, store, capabilities, and its settings without secrets")
            .answers(200, "The server", View.class));
    database.ifPresent(store -> routes.addAll(withDatabase(store)));
    return routes;
  }

  private List<Route> withDatabase(Database store) {
    var bots = new BotList(store, context.meters(), hasQueues());
    var streams = new NewestEvents(store);
    return List.of(
        Route.get(
                "/bots",
                Role.READ,
                Scope.queues(),
                request -> Response.ok(bots.list(bots(), request.reach())))
            .summary("The bots: subscription, scope, held sessions, endpoint")
            .answers(200, "By name", BotList.Listing.class),
        Route.post(
                "/bots/explain",
                Role.READ,
                Scope.queues(),
                request ->
                    Response.ok(
                        BotList.explain(
                            request.json(BotList.Explain::read), bots(), request.reach())))
            .summary("Explain which bots would receive an event, without storing it")
            .takes(BotList.Explain.class)
            .answers(200, "The decision of each bot", BotList.Verdicts.class),
        Route.get(
                "/streams/{stream}/newest",
                Role.READ,
                Scope.stream(),
                request -> newest(request, streams))
            .summary("The newest events of a stream, newest first")
            .query("before", "Only events with a smaller number")
            .query("event", "Only events of this name")
            .query("limit", "Events, 1 to 200")
            .answers(200, "The events", NewestEvents.Events.class));
  }

  private boolean hasQueues() {
    return context.engine().queues() instanceof PostgresQueueProvider;
  }

  private List<Bot> bots() {
    return config.get(BotsConfig.SECTION).bots();
  }

  private static Response newest(Request request, NewestEvents streams) {
    return request.query(
        in -> {
          var before = in.optional("before", Long.MAX_VALUE, Decode.integer(1L, Long.MAX_VALUE));
          var event = in.optional("event", "", Decode.text(200));
          var limit = in.optional("limit", 50, Decode.integer(1, 200));
          in.check();
          return Response.ok(
              streams.newest(request.parameter("stream"), before.get(), event.get(), limit.get()));
        });
  }

  /** The servers of the store. */
  record Nodes(List<Beat.Node> nodes) {}

  /** The capabilities of the queue provider. */
  record Abilities(String provider, boolean parksSessions, Map<String, String> impossible) {}

  /**
   * The server as the API shows it.
   *
   * @param settings the values in force, without secrets
   * @param sources where settings that differ from their defaults come from
   */
  record View(
      String version,
      String java,
      Instant startedAt,
      String store,
      Optional<String> notReady,
      Optional<StoreNumbers.Store> database,
      Abilities queues,
      Map<String, String> settings,
      Map<String, String> sources) {}

  private Response show(Request request) {
    var notReady = context.engine().notReady();
    var able = context.engine().queues().capabilities();
    return Response.ok(
        new View(
            version,
            String.valueOf(Runtime.version()),
            beat.startedAt(),
            context.engine().description(),
            notReady,
            notReady.isPresent()
                ? Optional.empty()
                : database.map(store -> new StoreNumbers(store, hasQueues()).read()),
            new Abilities(able.provider(), able.parksSessions(), impossible(able)),
            config.shown(),
            config.places()));
  }

  private static Map<String, String> impossible(dev.sessionkeeper.spi.Capabilities able) {
    var texts = new java.util.TreeMap<String, String>();
    able.impossible().forEach((rule, why) -> texts.put(String.valueOf(rule), String.valueOf(why)));
    return texts;
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void reconfigure(KeeperConfig next) {
    config = next;
  }

  @Override
  public void drain() {
    beat.drain();
  }

  @Override
  public void close() {
    beat.close();
  }
}
