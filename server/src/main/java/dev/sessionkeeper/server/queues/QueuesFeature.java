package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.store.Database;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Queues, leases, messages, settlements, sessions and dead letters. */
public final class QueuesFeature implements Feature {
  private final List<Route> routes;
  private final HeldSessions held;
  private final Optional<PostgresWorkLog> work;

  private QueuesFeature(Context context) {
    var queues = new Queues(context.engine().queues());
    var audit = context.engine().audited();
    var meters = new LeaseMeters(context.meters());
    var traces = context.traces();
    held =
        new HeldSessions(
            queues, context.engine().secret(), context.engine().notices(), context.time());
    var holds = new LimitLeases(held, context.holdLimits()::get);
    work = context.engine().database().map(source -> PostgresWorkLog.in(Database.of(source)));
    WorkLog log =
        work.<WorkLog>map(known -> known).orElseGet(() -> new MemoryWorkLog(context.time()));
    var sessions = new WorkSessions(queues, held, holds, meters, traces);
    routes =
        Stream.of(
                new QueueRoutes(queues, audit).routes(),
                new RemovalRoutes(queues, audit, context.holdLimits()::get).routes(),
                new ScaleRoutes(queues).routes(),
                new MessageRoutes(queues, traces).routes(),
                new LeaseRoutes(queues, held, holds, meters, traces).routes(),
                new SettleRoutes(queues, held, holds, traces).routes(),
                new WorkRoutes(queues, held, holds, sessions, log).routes(),
                new UnorderedRoutes(queues, context.engine().secret(), traces).routes(),
                new SessionRoutes(queues, audit, context.holdLimits()::get).routes(),
                new DeadLetterRoutes(queues, audit).routes())
            .flatMap(List::stream)
            .toList();
  }

  public static Feature open(Context context) {
    return new QueuesFeature(context);
  }

  @Override
  public List<Route> routes() {
    return routes;
  }

  @Override
  public void schedule(Jobs jobs) {
    work.ifPresent(log -> log.schedule(jobs));
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void reconfigure(KeeperConfig config) {
    // Queues are created through the API, so there is no configuration to change.
  }

  @Override
  public void close() {
    held.close();
  }
}
