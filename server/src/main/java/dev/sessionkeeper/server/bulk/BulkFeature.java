package dev.sessionkeeper.server.bulk;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.postgres.SearchDeadLetters;
import dev.sessionkeeper.postgres.SearchSessions;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.EventReplays;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reason;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.InvalidInput;
import dev.sessionkeeper.server.queues.Queues;
import dev.sessionkeeper.server.security.SignTexts;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Acts on many sessions, dead letters or events: a dry run, a confirmation, then work in the
 * background.
 */
public final class BulkFeature implements Feature {
  private static final String JOB = "bulk-acts";
  private static final Duration LOOK_EVERY = Duration.ofMinutes(1);
  private static final Duration TOKEN = Duration.ofMinutes(5);
  private static final int MOST_COUNTED = 10_000;
  private static final int MOST_RUNNING = 10;
  private static final int SAMPLES = 10;

  private final Queues queues;
  private final BulkTable table;
  private final SearchSessions sessions;
  private final SearchDeadLetters letters;
  private final Optional<EventReplays> events;
  private final WorkThrough work;
  private final SignTexts tokens;
  private final TimeSource time;
  private final boolean isSearchable;
  private volatile @Nullable Jobs jobs;

  private BulkFeature(Context context, Database database, Optional<EventReplays> events) {
    Migrations.apply(database.source(), "bulk");
    queues = new Queues(context.engine().queues());
    table = new BulkTable(database);
    sessions = new SearchSessions(database);
    letters = new SearchDeadLetters(database);
    this.events = events;
    isSearchable = context.engine().queues() instanceof PostgresQueueProvider;
    work = new WorkThrough(table, sessions, letters, context.engine().audited(), events);
    tokens = context.engine().secret().signing("bulk");
    time = context.time();
  }

  /**
   * Opens the feature if the server has a database. Sessions and dead letters of queues elsewhere
   * cannot be searched, so only events are replayed there.
   */
  public static Optional<Feature> open(Context context, List<Feature> features) {
    var events = features.stream().flatMap(feature -> feature.eventReplays().stream()).findFirst();
    return context
        .engine()
        .database()
        .filter(
            source ->
                events.isPresent() || context.engine().queues() instanceof PostgresQueueProvider)
        .map(source -> new BulkFeature(context, Database.of(source), events));
  }

  @Override
  public List<Route> routes() {
    var routes = new ArrayList<Route>();
    if (isSearchable) {
      routes.add(
          Route.post("/queues/{queue}/bulk", Role.OPERATE, Scope.queue(), this::begin)
              .summary(
                  "Count what an act would change (dryRun), or begin it with the token of that;"
                      + " audited")
              .takes(BulkRequest.class)
              .answers(200, "Counted", BulkRequest.DryRun.class)
              .answers(201, "Started; it continues in the background", BulkRun.class)
              .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.CONFLICT));
    }
    if (events.isPresent()) {
      routes.add(
          Route.post("/bulk", Role.OPERATE, Scope.queues(), this::beginEvents)
              .summary(
                  "Count the messages of a replay of events (act replayEvents, dryRun), or begin"
                      + " it with the token of that; audited")
              .takes(BulkRequest.class)
              .answers(200, "Counted", BulkRequest.DryRun.class)
              .answers(201, "Started; it continues in the background", BulkRun.class)
              .problems(ProblemType.CONFLICT));
    }
    routes.addAll(runs());
    return routes;
  }

  private List<Route> runs() {
    return List.of(
        Route.get("/bulk", Role.READ, Scope.queues(), this::list)
            .summary("The newest bulk runs, at most 100")
            .answers(200, "Newest first", BulkRun.Listing.class),
        Route.get("/bulk/{id}", Role.READ, Scope.queues(), this::show)
            .summary("One bulk run")
            .answers(200, "The run", BulkRun.class)
            .problems(ProblemType.NOT_FOUND),
        Route.post("/bulk/{id}/stop", Role.OPERATE, Scope.queues(), this::stop)
            .summary("Stop a bulk run after its current step; its changes so far remain; audited")
            .header(Reason.HEADER, Reason.ABOUT)
            .answers(200, "The run", BulkRun.class)
            .problems(ProblemType.NOT_FOUND));
  }

  private Response begin(Request request) {
    var wish = request.json(BulkRequest::read);
    var queue = queues.named(request);
    queues.settings(queue);
    if (wish.act().isOnEvents()) {
      throw new InvalidInput("act", "is not of one queue; send it to POST /bulk");
    }
    if (wish.dryRun().orElse(false)) {
      var counted =
          wish.act().onSession().isPresent()
              ? countSessions(wish, queue)
              : countLetters(wish, queue);
      return Response.ok(dryRun(wish, queue.value(), counted, request.actor()));
    }
    return Response.created(
        start(wish, BulkTable.Target.of(queue), queue.value(), request.actor()));
  }

  private Response beginEvents(Request request) {
    var wish = request.json(BulkRequest::read);
    if (!wish.act().isOnEvents()) {
      throw new InvalidInput("act", "is of one queue; send it to POST /queues/{queue}/bulk");
    }
    var replays = events.orElseThrow();
    var selection = wish.selected().events();
    var reached = replays.queues(selection, request.reach().queues());
    // A token of other bots is refused: the operator did not confirm them.
    var where = reached.stream().map(QueueName::value).sorted().collect(Collectors.joining(","));
    if (wish.dryRun().orElse(false)) {
      var found = replays.count(selection, reached, SAMPLES);
      var counted =
          new Counted(found.messages(), Long.toString(found.lastEvent()), found.samples());
      return Response.ok(dryRun(wish, where, counted, request.actor()));
    }
    if (reached.isEmpty()) {
      throw new InvalidInput("filter", "has no bot that would get the events");
    }
    return Response.created(start(wish, BulkTable.Target.of(reached), where, request.actor()));
  }

  /** The result of a dry run. */
  private record Counted(long count, String bound, List<String> samples) {}

  /** Returns the answer to a dry run, with the token that begins the same act. */
  private BulkRequest.DryRun dryRun(BulkRequest wish, String where, Counted counted, Actor actor) {
    var token =
        tokens.sign(
            time.instant().plus(TOKEN) + "\n" + counted.count() + "\n" + counted.bound(),
            wish.act().toString(),
            where,
            wish.selected().json(),
            actor.name());
    return new BulkRequest.DryRun(
        counted.count(), counted.count() <= MOST_COUNTED, counted.samples(), token);
  }

  private Counted countSessions(BulkRequest wish, QueueName queue) {
    var now = time.instant();
    var samples = new ArrayList<String>();
    long count = 0;
    Optional<String> cursor = Optional.empty();
    do {
      var page =
          sessions
              .page(
                  queue,
                  wish.selected().sessions(),
                  new Page.Request(Page.Request.MAX_LIMIT, cursor))
              .page();
      page.items().stream()
          .limit(SAMPLES - samples.size())
          .forEach(view -> samples.add(view.id().value()));
      count += page.items().size();
      cursor = page.next();
    } while (cursor.isPresent() && count <= MOST_COUNTED);
    return new Counted(count, now.toString(), samples);
  }

  private Counted countLetters(BulkRequest wish, QueueName queue) {
    var filter = wish.selected().deadLetters();
    var count = letters.count(queue, filter);
    var samples =
        letters.oldest(queue, filter, 0, SAMPLES).stream()
            .map(letter -> letter.id() + " " + letter.message())
            .toList();
    return new Counted(count.letters(), Long.toString(count.highest()), samples);
  }

  private BulkRun start(BulkRequest wish, BulkTable.Target target, String where, Actor actor) {
    var parts =
        tokens
            .verify(
                wish.token().orElseThrow(),
                wish.act().toString(),
                where,
                wish.selected().json(),
                actor.name())
            .map(text -> text.split("\n", 3))
            .filter(part -> time.instant().isBefore(Instant.parse(part[0])))
            .orElseThrow(
                () ->
                    ProblemType.CONFLICT
                        .with(
                            "The token of the dry run has expired, or belongs to another act; count again")
                        .toException());
    requireRoom(target);
    var id = UUID.randomUUID();
    table
        .database()
        .doInTransaction(
            connection -> {
              BulkTable.add(
                  connection, id, target, wish, actor, Long.parseLong(parts[1]), parts[2]);
              AuditLog.write(
                  connection,
                  new AuditLog.Entry(
                      actor,
                      "bulk." + wish.act(),
                      audited(id, target.queues().isEmpty() ? target.word() : ""),
                      wish.reason().orElse(""),
                      "bulk " + id + " over " + parts[1] + ": " + wish.selected().json()));
            });
    soon(actor);
    return table.find(id).orElseThrow().run();
  }

  /** Returns the target of a run's audit entries: its queue, or the run if it replays events. */
  private static String audited(UUID id, String queue) {
    return queue.isEmpty() ? "bulk/" + id : queue;
  }

  /**
   * Refuses a run if too many wait: runs are done one after the other, so those of one queue must
   * not delay all others.
   */
  private void requireRoom(BulkTable.Target target) {
    if (table.running(target) >= MOST_RUNNING) {
      throw ProblemType.CONFLICT
          .with(
              MOST_RUNNING
                  + " runs "
                  + target.queue().map(queue -> "of the queue " + queue).orElse("of several queues")
                  + " have not ended; wait for them or stop one")
          .toException();
    }
  }

  /** Starts the job now. Otherwise it would wait up to a minute for its schedule. */
  private void soon(Actor actor) {
    var scheduled = jobs;
    if (scheduled != null) {
      scheduled.requestRun(JOB, actor);
    }
  }

  private Response list(Request request) {
    return Response.ok(new BulkRun.Listing(table.newest(request.reach().queues())));
  }

  private Response show(Request request) {
    return Response.ok(find(request).run());
  }

  private BulkTable.Row find(Request request) {
    var visible = request.reach().queues();
    return id(request)
        .flatMap(table::find)
        .filter(row -> row.isWithin(visible))
        .orElseThrow(() -> ProblemType.NOT_FOUND.with("There is no such run").toException());
  }

  private static Optional<UUID> id(Request request) {
    try {
      return Optional.of(Decode.parseGuid(request.parameter("id")));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private Response stop(Request request) {
    var row = find(request);
    var id = row.run().id();
    var target = audited(id, row.queues().isEmpty() ? row.run().queue().orElse("") : "");
    table
        .database()
        .doInTransaction(
            connection -> {
              if (BulkTable.end(connection, id, "stopped", "")) {
                AuditLog.write(
                    connection,
                    new AuditLog.Entry(request.actor(), "bulk.stop", target, "", "bulk " + id));
              }
            });
    return Response.ok(find(request).run());
  }

  @Override
  public void schedule(Jobs scheduler) {
    jobs = scheduler;
    scheduler.register(JOB, Schedule.every(LOOK_EVERY), work::work);
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void reconfigure(KeeperConfig config) {
    // The feature has no configuration.
  }

  @Override
  public void close() {
    // The server ends the job together with all others.
  }
}
