package dev.sessionkeeper.server.inspect;

import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.postgres.SearchDeadLetters;
import dev.sessionkeeper.postgres.SearchSessions;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.queues.Queues;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Shows single sessions and dead letters in detail. */
public final class InspectFeature implements Feature {
  private static final Duration KEPT = Duration.ofDays(7);
  private static final Duration FORGET_EVERY = Duration.ofMinutes(10);
  private static final int AT_ONCE = 5_000;

  private final List<Route> routes = new ArrayList<>();
  private final Optional<AttemptTable> attempts;

  private InspectFeature(Context context) {
    var queues = new Queues(context.engine().queues());
    var database =
        context
            .engine()
            .database()
            .filter(source -> queues.provider() instanceof PostgresQueueProvider)
            .map(Database::of);
    database.ifPresent(store -> Migrations.apply(store.source(), "inspect"));
    attempts = database.map(AttemptTable::new);
    var looks =
        new LookAtSessions(queues, database.map(SearchSessions::new), attempts, context.time());
    var timeline =
        database.map(
            store ->
                new Timeline(
                    store,
                    new SearchSessions(store),
                    new SearchDeadLetters(store),
                    new AttemptTable(store),
                    context.engine().audit()));
    routes.addAll(new SessionDetailRoutes(queues, looks, timeline).routes());
    database.ifPresent(
        store ->
            routes.addAll(
                new DeadLetterSearchRoutes(
                        queues, new SearchDeadLetters(store), new RepairTable(store))
                    .routes()));
  }

  public static Feature open(Context context) {
    return new InspectFeature(context);
  }

  @Override
  public List<Route> routes() {
    return List.copyOf(routes);
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void schedule(Jobs jobs) {
    attempts.ifPresent(
        table ->
            jobs.register(
                "forget-attempts", Schedule.every(FORGET_EVERY), run -> forget(run, table)));
  }

  private static void forget(JobContext run, AttemptTable table) {
    boolean more = true;
    while (more && run.isHeld() && !run.isStopping()) {
      more = table.forget(KEPT, AT_ONCE) == AT_ONCE;
    }
  }

  @Override
  public void reconfigure(KeeperConfig config) {
    // The feature has no configuration.
  }

  @Override
  public void close() {
    // There is nothing to close.
  }
}
