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
 * Reads sessions from any store: with indexed queries in the server's own database, and through the
 * provider's inspector elsewhere.
 */
final class LookAtSessions {
  /** The most sessions of another provider that one search examines. */
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
    // Takes a page of the inspector as a whole, because its cursor is behind all of its items.
    return new SearchSessions.Found(new Page<>(found, cursor), true);
  }

  /**
   * Returns the counts of sessions by status; empty if counting would need to read all sessions.
   */
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
   * Returns the queries of the server's own database.
   *
   * @throws dev.sessionkeeper.server.http.ProblemException 409 if the queues are elsewhere
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
