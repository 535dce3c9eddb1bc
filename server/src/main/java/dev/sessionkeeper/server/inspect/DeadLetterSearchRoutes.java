package dev.sessionkeeper.server.inspect;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.SearchDeadLetters;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.RawJson;
import dev.sessionkeeper.server.queues.DeadLetterView;
import dev.sessionkeeper.server.queues.Queues;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.store.AuditLog;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/** Finds dead letters by their cause, and repairs their payloads. */
final class DeadLetterSearchRoutes {
  private static final long LEAST_BYTES = 64L << 10;
  private static final long MOST_BYTES = 8L << 20;
  private static final int MAX_BODY = 4 << 20;

  private final Queues queues;
  private final SearchDeadLetters letters;
  private final RepairTable repairs;

  DeadLetterSearchRoutes(Queues queues, SearchDeadLetters letters, RepairTable repairs) {
    this.queues = queues;
    this.letters = letters;
    this.repairs = repairs;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/queues/{queue}/dead-letters/search", Role.READ, Scope.queue(), this::search)
            .summary("Dead letters by age and by what they died of; at most 8 MB on a page")
            .query("sessionId", "Of this session only")
            .query("reason", "Whose reason or last error has this text")
            .query("fingerprint", "Of this group")
            .query("from", "Died at this time or later")
            .query("to", "Died before this time")
            .query("order", "newest or oldest first; newest unless named")
            .query("limit", "Dead letters per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", DeadLetterView.Listing.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.INVALID_CURSOR),
        Route.get("/queues/{queue}/dead-letters/groups", Role.READ, Scope.queue(), this::groups)
            .summary("The causes of the newest 5,000 dead letters, most frequent first")
            .answers(200, "The causes", Groups.class)
            .problems(ProblemType.UNKNOWN_QUEUE),
        Route.get(
                "/queues/{queue}/dead-letters/{id}/repairs",
                Role.READ,
                Scope.queue(),
                this::originals)
            .summary("A dead letter, and the bodies that its message had before it was repaired")
            .answers(200, "The dead letter", Repairs.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_FOUND),
        Route.put(
                "/queues/{queue}/dead-letters/{id}/body", Role.OPERATE, Scope.queue(), this::repair)
            .summary("Replace the body of a dead letter; the former body is kept; audited")
            .takes(Repair.class)
            .answers(200, "The dead letter as it is now", DeadLetterView.class)
            .problems(
                ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_FOUND, ProblemType.PRECONDITION_FAILED));
  }

  /** The causes of the newest dead letters. */
  record Groups(List<SearchDeadLetters.Group> groups, int lookedAt) {}

  /**
   * A dead letter and its former payloads.
   *
   * @param sha256 the digest of the current payload, which a repair must name
   */
  record Repairs(DeadLetterView deadLetter, String sha256, List<RepairTable.Original> originals) {}

  /**
   * A new payload for a dead letter.
   *
   * @param body the text of the new payload
   * @param sha256 the digest of the payload that the operator saw
   */
  record Repair(String body, Optional<String> sha256, Optional<String> reason) {
    static Repair read(Fields in) {
      var body = in.required("body", Decode.text(MAX_BODY));
      var digest = in.optional("sha256", Decode.text(64));
      var reason = in.optional("reason", Decode.text(1000));
      in.check();
      return new Repair(body.get(), digest.get(), reason.get());
    }
  }

  /** Reads the fields of a filter; call the supplier after {@link Fields#check}. */
  static Supplier<SearchDeadLetters.Filter> askFilter(Fields in) {
    var session = in.optional("sessionId", Decode.text().map(SessionId::of));
    var reason = in.optional("reason", Decode.text(300));
    var fingerprint = in.optional("fingerprint", Decode.text(64));
    var from = in.optional("from", Decode.instant());
    var to = in.optional("to", Decode.instant());
    return () -> {
      Optional<Instant> since = from.get();
      return new SearchDeadLetters.Filter(
          session.get(), reason.get(), fingerprint.get(), since, to.get(), Optional.empty());
    };
  }

  private record Wish(
      SearchDeadLetters.Filter filter, SearchDeadLetters.Order order, Page.Request page) {
    static Wish read(Fields in) {
      var filter = askFilter(in);
      var order =
          in.optional(
              "order",
              Decode.oneOf(
                  Decode.words(
                      SearchDeadLetters.Order.class, one -> one.name().toLowerCase(Locale.ROOT))));
      var page = Request.page(in);
      return new Wish(filter.get(), order.get().orElse(SearchDeadLetters.Order.NEWEST), page);
    }
  }

  private Response search(Request request) {
    var queue = queues.named(request);
    var wish = request.query(Wish::read);
    queues.settings(queue);
    var fitting = wish.page().withMaxBytes(request.reserve(LEAST_BYTES, MOST_BYTES));
    var page = letters.page(queue, wish.filter(), wish.order(), fitting);
    return Response.ok(
        new DeadLetterView.Listing(
            page.items().stream().map(DeadLetterView::of).toList(), page.next()));
  }

  private Response groups(Request request) {
    var queue = queues.named(request);
    queues.settings(queue);
    return Response.ok(new Groups(letters.groups(queue), SearchDeadLetters.NEWEST));
  }

  private DeadLetter find(Request request) {
    return letters
        .find(queues.named(request), request.parameter("id"))
        .orElseThrow(
            () -> ProblemType.NOT_FOUND.with("There is no dead letter of that id").toException());
  }

  private Response originals(Request request) {
    var letter = find(request);
    return Response.ok(
        new Repairs(
            DeadLetterView.of(letter),
            RepairTable.hex(letter.message().payload()),
            repairs.originals(queues.named(request), letter)));
  }

  private Response repair(Request request) {
    var queue = queues.named(request);
    var wish = request.json(Repair::read);
    queues.settings(queue);
    var letter = find(request);
    var before = letter.message().payload();
    var digest = RepairTable.hex(before);
    if (wish.sha256().filter(seen -> !seen.equals(digest)).isPresent()) {
      throw changed();
    }
    var after = SessionDetailRoutes.payload(before, wish.body());
    if (before.form() == dev.sessionkeeper.Payload.Form.JSON
        && RawJson.of(wish.body().getBytes(StandardCharsets.UTF_8)).isEmpty()) {
      throw Problem.invalid("body", "must be a JSON document, as the message was sent")
          .toException();
    }
    boolean isRepaired =
        letters.repair(
            queue,
            letter.id(),
            before,
            after,
            (connection, count) -> {
              repairs.keep(connection, queue, letter, request.actor().name());
              AuditLog.write(
                  connection,
                  new AuditLog.Entry(
                      request.actor(),
                      "dead-letters.repair",
                      letter.message().session().map(id -> queue + "/" + id).orElse(queue.value()),
                      wish.reason().orElse(""),
                      "dead letter "
                          + letter.id()
                          + ", body "
                          + digest
                          + " became "
                          + RepairTable.hex(after)));
            });
    if (!isRepaired) {
      throw changed();
    }
    return Response.ok(DeadLetterView.of(find(request)));
  }

  private static RuntimeException changed() {
    return ProblemType.PRECONDITION_FAILED
        .with("The dead letter has another body by now; read it again")
        .toException();
  }
}
