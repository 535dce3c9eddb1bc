package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.Feature;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Queues, leases, messages, settlements, sessions and dead letters. */
public final class QueuesFeature implements Feature {
  private final List<Route> routes;
  private final HeldSessions held;

  public QueuesFeature(QueueProvider provider, AuditLog audit, TimeSource time) {
    var queues = new Queues(provider);
    held = new HeldSessions(queues, time);
    routes =
        Stream.of(
                new QueueRoutes(queues, audit).routes(),
                new MessageRoutes(queues).routes(),
                new LeaseRoutes(queues, held).routes(),
                new SettleRoutes(queues, held).routes(),
                new UnorderedRoutes(queues).routes(),
                new SessionRoutes(queues, audit).routes(),
                new DeadLetterRoutes(queues, audit).routes())
            .flatMap(List::stream)
            .toList();
  }

  @Override
  public List<Route> routes() {
    return routes;
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void close() {
    held.close();
  }
}
