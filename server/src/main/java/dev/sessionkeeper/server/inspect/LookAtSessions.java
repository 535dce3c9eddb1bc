package dev.sessionkeeper.server.inspect;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.SearchSessions;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.queues.Queues;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.time.TimeSource;
import java.util.ArrayList;
import java.util.Optional;

/**
 * Looks at sessions in whatever store they are: with indexed reads in our own database, and through
 * the provider's inspector elsewhere.
 */
final class LookAtSessions {
  /** How many sessions of another provider are looked through for the ones that are asked for. */
  private static final int MOST_LOOKED_AT = 10_000;

  private final Queues queues;
  private final Optional<SearchSessions> search;
  private final Optional<AttemptTable> attempts;
  private final TimeSource time;

  LookAtSessions(
      Queues queues,
      Optional<SearchSessions> search,
      Optional<AttemptTable> attempts,
      TimeSource time) {
    this.queues = queues;
    this.search = search;
    this.attempts = attempts;
    this.time = time;
  }

  SearchSessions.Found page(QueueName queue, SearchSessions.Filter filter, Page.Request page) {
    if (search.isPresent()) {
      return search.get().page(queue, filter, page);
    }
    var found = new ArrayList<SessionView>();
    var cursor = page.cursor();
    var inspector = queues.inspectable();
    for (int looked = 0; looked < MOST_LOOKED_AT; ) {
      var some =
          inspector.inspect(
              queue, Optional.empty(), new Page.Request(Page.Request.MAX_LIMIT, cursor));
      some.items().stream()
          .filter(view -> filter.statuses().contains(view.status()))
          .filter(view -> view.id().value().startsWith(filter.prefix()))
          .forEach(found::add);
      looked += Math.max(1, some.items().size());
      cursor = some.next();
      if (cursor.isEmpty() || found.size() >= page.limit()) {
        break;
      }
    }
    // A page of the inspector is taken as a whole, so that its cursor is behind all of it.
    return new SearchSessions.Found(new Page<>(found, cursor), true);
  }

  /** How many sessions have a lane; empty where no one counts them without reading all. */
  Optional<SearchSessions.Counts> counts(QueueName queue) {
    return search.flatMap(by -> by.counts(queue));
  }

  WhyBlocked.Known look(QueueName queue, SessionId session) {
    var settings = queues.settings(queue);
    var one = search.flatMap(by -> by.find(queue, session));
    var view =
        search.isPresent()
            ? one.map(SearchSessions.One::view)
            : page(
                    queue,
                    new SearchSessions.Filter(
                        java.util.EnumSet.allOf(dev.sessionkeeper.spi.SessionStatus.class),
                        session.value()),
                    Page.Request.first(Page.Request.MAX_LIMIT))
                .page()
                .items()
                .stream()
                .filter(found -> found.id().equals(session))
                .findFirst();
    return new WhyBlocked.Known(
        view,
        settings,
        attempts.flatMap(table -> table.newest(queue, session, 1).stream().findFirst()),
        one.map(SearchSessions.One::isReadAlone).orElse(false),
        time.instant());
  }

  /**
   * The database's own reads.
   *
   * @throws dev.sessionkeeper.server.http.ProblemException 409 where the queues are elsewhere
   */
  SearchSessions search() {
    return search.orElseThrow(
        () ->
            ProblemType.NOT_SUPPORTED
                .with(
                    "The provider "
                        + queues.provider().capabilities().provider()
                        + " does not show the messages of a session")
                .and("provider", queues.provider().capabilities().provider())
                .and("capability", "showMessages")
                .toException());
  }
}
