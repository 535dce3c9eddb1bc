package dev.sessionkeeper.server.bulk;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.postgres.SearchDeadLetters;
import dev.sessionkeeper.postgres.SearchSessions;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reason;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
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
import org.jspecify.annotations.Nullable;

/**
 * Acts on many sessions or dead letters: a dry run, a confirmation, then work in the background.
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
  private final WorkThrough work;
  private final SignTexts tokens;
  private final TimeSource time;
  private volatile @Nullable Jobs jobs;

  private BulkFeature(Context context, Database database) {
    Migrations.apply(database.source(), "bulk");
    queues = new Queues(context.engine().queues());
    table = new BulkTable(database);
    sessions = new SearchSessions(database);
    letters = new SearchDeadLetters(database);
    work = new WorkThrough(table, sessions, letters, context.engine().audited());
    tokens = context.engine().secret().signing("bulk");
    time = context.time();
  }

  /**
   * Opens the feature if the queues are in the server's own PostgreSQL; other queues cannot be
   * searched.
   */
  public static Optional<Feature> open(Context context) {
    return context
        .engine()
        .database()
        .filter(source -> context.engine().queues() instanceof PostgresQueueProvider)
        .map(source -> new BulkFeature(context, Database.of(source)));
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.post("/queues/{queue}/bulk", Role.OPERATE, Scope.queue(), this::begin)
            .summary(
                "Count what an act would change (dryRun), or begin it with the token of that;"
                    + " audited")
            .takes(BulkRequest.class)
            .answers(200, "Counted", BulkRequest.DryRun.class)
            .answers(201, "Started; it continues in the background", BulkRun.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.CONFLICT),
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
    return wish.dryRun().orElse(false)
        ? Response.ok(count(wish, queue, request.actor()))
        : Response.created(start(wish, queue, request.actor()));
  }

  /** The result of a dry run. */
  private record Counted(long count, String bound, List<String> samples) {}

  private BulkRequest.DryRun count(BulkRequest wish, QueueName queue, Actor actor) {
    var counted =
        wish.act().onSession().isPresent() ? countSessions(wish, queue) : countLetters(wish, queue);
    var token =
        tokens.sign(
            time.instant().plus(TOKEN) + "\n" + counted.count() + "\n" + counted.bound(),
            wish.act().toString(),
            queue.value(),
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

  private BulkRun start(BulkRequest wish, QueueName queue, Actor actor) {
    var parts =
        tokens
            .verify(
                wish.token().orElseThrow(),
                wish.act().toString(),
                queue.value(),
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
    requireRoom(queue);
    var id = UUID.randomUUID();
    table
        .database()
        .doInTransaction(
            connection -> {
              BulkTable.add(connection, id, queue, wish, actor, Long.parseLong(parts[1]), parts[2]);
              AuditLog.write(
                  connection,
                  new AuditLog.Entry(
                      actor,
                      "bulk." + wish.act(),
                      queue.value(),
                      wish.reason().orElse(""),
                      "bulk " + id + " over " + parts[1] + ": " + wish.selected().json()));
            });
    soon(actor);
    return table.find(id).orElseThrow().run();
  }

  /**
   * Refuses a run if too many wait: runs are done one after the other, so those of one queue must
   * not delay all others.
   */
  private void requireRoom(QueueName queue) {
    if (table.running(queue) >= MOST_RUNNING) {
      throw ProblemType.CONFLICT
          .with(
              MOST_RUNNING
                  + " runs of the queue "
                  + queue
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
    return Response.ok(find(request));
  }

  private BulkRun find(Request request) {
    var reach = request.reach();
    return id(request)
        .flatMap(table::find)
        .map(BulkTable.Row::run)
        .filter(run -> reach.includes(QueueName.of(run.queue())))
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
    var run = find(request);
    table
        .database()
        .doInTransaction(
            connection -> {
              if (BulkTable.end(connection, run.id(), "stopped", "")) {
                AuditLog.write(
                    connection,
                    new AuditLog.Entry(
                        request.actor(), "bulk.stop", run.queue(), "", "bulk " + run.id()));
              }
            });
    return Response.ok(find(request));
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
