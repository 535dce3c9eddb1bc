package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.RawDelivery;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.github.ReadResult;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Receives GitHub's webhook posts. */
final class WebhookRoutes {
  private static final Logger log = LoggerFactory.getLogger(WebhookRoutes.class);

  private final Supplier<Routing> routing;
  private final AcceptDelivery accept;
  private final ReplayDeadLetters letters;
  private final GatewayMeters meters;

  WebhookRoutes(
      Supplier<Routing> routing,
      AcceptDelivery accept,
      ReplayDeadLetters letters,
      GatewayMeters meters) {
    this.routing = routing;
    this.accept = accept;
    this.letters = letters;
    this.meters = meters;
  }

  /**
   * The answer to GitHub.
   *
   * @param routedTo the bots, in the order of the configuration
   * @param duplicate whether the delivery id or signed body was known; then nothing was routed
   *     again
   * @param revived how many of its dead letters were replayed
   */
  record Answer(
      String eventId,
      List<String> routedTo,
      Optional<Boolean> duplicate,
      Optional<Integer> revived) {}

  List<Route> routes() {
    return List.of(
        Route.post("/webhooks/github", Role.ANYONE, Scope.open(), this::take)
            .summary("Receive a delivery from GitHub, which is signed instead of authenticated")
            .header("X-GitHub-Event", "The type of the event")
            .header("X-GitHub-Delivery", "Names the delivery; a known one is not routed again")
            .header("X-Hub-Signature-256", "HMAC-SHA-256 of the body with one of the secrets")
            .takes("application/json or application/x-www-form-urlencoded")
            .maxBody(ReadDelivery.GITHUB_MAX_BODY)
            .answers(202, "The delivery was stored and routed", Answer.class)
            .answers(200, "The event was stored before", Answer.class)
            .problems(
                ProblemType.UNAUTHENTICATED,
                ProblemType.TOO_LARGE,
                ProblemType.UNSUPPORTED_MEDIA_TYPE));
  }

  private Response take(Request request) throws InterruptedException {
    var now = routing.get();
    var raw =
        new RawDelivery(
            header(request, "X-GitHub-Event"),
            header(request, "X-GitHub-Delivery"),
            header(request, "X-Hub-Signature-256"),
            header(request, "Content-Type"),
            request.body());
    var reader = now.reader();
    if (reader.isEmpty()) {
      meters.refused("no_secret");
      throw ProblemType.UNAUTHENTICATED
          .with("No delivery can be verified: github.secrets is not configured")
          .toException();
    }
    return switch (reader.get().read(raw)) {
      case ReadResult.Refused refused -> {
        meters.refused(refused.reason().name());
        throw problem(refused).toException();
      }
      case ReadResult.Accepted read -> route(request, raw, read.event(), now.bots());
    };
  }

  private Response route(Request request, RawDelivery raw, GitHubEvent event, List<Bot> bots)
      throws InterruptedException {
    var verdicts = new ArrayList<Verdict>();
    var matching = new ArrayList<Bot>();
    for (var bot : bots) {
      var verdict = Verdict.of(bot, event);
      verdicts.add(verdict);
      if (verdict.matched()) {
        matching.add(bot);
      }
    }
    var trace = TraceContext.ofRequest(request.header(TraceContext.NAME));
    var outcome =
        accept.accept(
            new NewDelivery(event, raw, HookHeaders.of(request), trace, verdicts), matching);
    return answer(outcome, event, trace);
  }

  private Response answer(AcceptDelivery.Outcome outcome, GitHubEvent event, TraceContext trace) {
    var routedTo = outcome.routes().stream().map(RoutedMessage::bot).toList();
    var id = outcome.id().toString();
    return switch (outcome) {
      case AcceptDelivery.Outcome.Accepted accepted -> {
        meters.accepted(routedTo);
        log.info("Event {} {} to {}, trace {}", id, event.name(), routedTo, trace.traceId());
        yield Response.json(202, new Answer(id, routedTo, Optional.empty(), Optional.empty()));
      }
      case AcceptDelivery.Outcome.Duplicate duplicate -> {
        int revived = letters.isPossible() ? letters.replay(duplicate.routes()) : 0;
        meters.duplicate(revived);
        log.info("Event {} {} is known; {} dead letters revived", id, event.name(), revived);
        yield Response.ok(new Answer(id, routedTo, Optional.of(true), Optional.of(revived)));
      }
      case AcceptDelivery.Outcome.SameBody known -> {
        meters.sameBody();
        log.warn(
            "Delivery {} as {} has the signed body of event {}; it is taken for a replay and is not"
                + " routed",
            event.deliveryId(),
            event.name(),
            id);
        yield Response.ok(new Answer(id, routedTo, Optional.of(true), Optional.of(0)));
      }
    };
  }

  private static Optional<String> header(Request request, String name) {
    return Optional.of(request.header(name)).filter(value -> !value.isBlank());
  }

  private static Problem problem(ReadResult.Refused refused) {
    return switch (refused.reason()) {
      case NOT_SIGNED, WRONG_SIGNATURE -> ProblemType.UNAUTHENTICATED.with(refused.explanation());
      case TOO_LARGE -> ProblemType.TOO_LARGE.with(refused.explanation());
      case UNSUPPORTED_CONTENT_TYPE ->
          ProblemType.UNSUPPORTED_MEDIA_TYPE.with(refused.explanation());
      case MISSING_EVENT, INVALID_EVENT -> Problem.invalid("X-GitHub-Event", refused.explanation());
      case MISSING_DELIVERY_ID, INVALID_DELIVERY_ID ->
          Problem.invalid("X-GitHub-Delivery", refused.explanation());
      case MALFORMED_FORM, NOT_UTF_8, MALFORMED_JSON, TOO_COMPLEX, NOT_AN_OBJECT ->
          Problem.invalid("$", refused.explanation());
    };
  }
}
