package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Sends messages. */
final class MessageRoutes {
  private static final Pattern TRACEPARENT =
      Pattern.compile("00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

  private final Queues queues;

  MessageRoutes(Queues queues) {
    this.queues = queues;
  }

  List<Route> routes() {
    return List.of(
        Route.post("/queues/{queue}/messages", Role.SEND, this::send)
            .summary("Send messages, all or nothing, in the order of the list")
            .header("traceparent", "W3C trace context; travels with the messages")
            .takes(SendRequest.class)
            .answers(201, "Stored durably", SendAnswer.class)
            .problems(
                ProblemType.UNKNOWN_QUEUE,
                ProblemType.SESSION_MODE_MISMATCH,
                ProblemType.REJECTED));
  }

  private Response send(Request request) {
    var queue = queues.named(request);
    var trace = Optional.of(request.header("traceparent")).filter(this::isTraceparent);
    var messages =
        request.json(SendRequest::read).messages().stream()
            .map(message -> message.toMessage(trace))
            .toList();
    var outcomes = queues.provider().send(queue, messages);
    return Response.created(new SendAnswer(outcomes.stream().map(SendAnswer.Item::of).toList()));
  }

  private boolean isTraceparent(String header) {
    return TRACEPARENT.matcher(header).matches();
  }
}
