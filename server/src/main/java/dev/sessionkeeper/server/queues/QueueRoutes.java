package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSetting;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reason;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.AuditedQueues;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.spi.InspectableQueues;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Creates, lists and shows queues. */
final class QueueRoutes {
  private static final String LIST = "queues";

  private final Queues queues;
  private final AuditedQueues audited;

  QueueRoutes(Queues queues, AuditedQueues audited) {
    this.queues = queues;
    this.audited = audited;
  }

  List<Route> routes() {
    return List.of(
        Route.put("/queues/{queue}", Role.ADMIN, Scope.queue(), this::declare)
            .summary(
                "Create a queue, or change the settings that the body names; a mode cannot change")
            .header(Reason.HEADER, Reason.ABOUT)
            .takes(QueueRequest.class)
            .answers(201, "Created", QueueView.class)
            .answers(200, "The queue existed; it has these settings now", QueueView.class)
            .problems(ProblemType.QUEUE_CONFLICT),
        Route.get("/queues", Role.READ, Scope.queues(), this::list)
            .summary("All queues with their numbers, by name")
            .query("limit", "Queues per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", QueueView.Listing.class)
            .problems(ProblemType.INVALID_CURSOR),
        Route.get("/queues/{queue}", Role.READ, Scope.queue(), this::show)
            .summary("One queue with its numbers")
            .query("numbers", "false: only the settings, which is fast for large queues, too")
            .answers(200, "The queue", QueueView.class)
            .problems(ProblemType.UNKNOWN_QUEUE));
  }

  private Response declare(Request request) {
    var name = nameOf(request);
    var wish = request.json(QueueRequest::read);
    var existing = queues.provider().settings(name);
    var settings = wish.settings(existing);
    if (existing.filter(settings::equals).isPresent()) {
      return Response.json(200, view(name));
    }
    boolean created =
        audited.declare(
            name,
            settings,
            news ->
                AuditLog.Entry.of(
                    request.actor(),
                    news == 1 ? "queue.create" : "queue.change",
                    name.value(),
                    words(settings)));
    return Response.json(created ? 201 : 200, view(name));
  }

  /** Formats the settings for the audit log. */
  private static String words(QueueSettings settings) {
    return Stream.concat(
            Stream.of(settings.mode().name().toLowerCase(Locale.ROOT)),
            QueueSetting.all().stream().map(each -> each.name() + " " + each.text(settings)))
        .collect(Collectors.joining(", "));
  }

  private Response list(Request request) {
    var page = request.query(Request::page);
    var after = page.cursor().map(cursor -> PageCursor.keyOf(LIST, 1, cursor).get(0)).orElse("");
    var names =
        queues.provider().queues().stream()
            .filter(request.reach()::includes)
            .filter(name -> name.value().compareTo(after) > 0)
            .limit(page.limit() + 1L)
            .toList();
    var found = Page.of(names, page.limit(), name -> PageCursor.after(LIST, name.value()));
    return Response.ok(
        new QueueView.Listing(found.items().stream().map(this::view).toList(), found.next()));
  }

  private Response show(Request request) {
    var queue = queues.named(request);
    boolean isCounted =
        request.query(
            in -> {
              var numbers =
                  in.optional("numbers", true, Decode.oneOf(Map.of("true", true, "false", false)));
              in.check();
              return numbers.get();
            });
    return Response.ok(isCounted ? view(queue) : QueueView.of(queue, queues.settings(queue)));
  }

  private QueueView view(QueueName name) {
    var settings = queues.settings(name);
    return switch (queues.provider()) {
      case InspectableQueues inspectable -> QueueView.of(name, settings, inspectable.stats(name));
      case CountableQueues countable -> QueueView.of(name, settings, countable.counts(name));
      default -> QueueView.of(name, settings);
    };
  }

  private static QueueName nameOf(Request request) {
    try {
      return QueueName.of(request.parameter("queue"));
    } catch (IllegalArgumentException e) {
      throw Problem.invalid("queue", String.valueOf(e.getMessage())).toException();
    }
  }
}
