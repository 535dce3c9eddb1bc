package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.tracing.TraceMessages;
import java.util.List;

/** Sends messages. */
final class MessageRoutes {
  private final Queues queues;
  private final TraceMessages traces;

  MessageRoutes(Queues queues, TraceMessages traces) {
    this.queues = queues;
    this.traces = traces;
  }

  List<Route> routes() {
    return List.of(
        Route.post("/queues/{queue}/messages", Role.SEND, Scope.queue(), this::send)
            .summary("Send messages, all or nothing, in the order of the list")
            .header("traceparent", "W3C trace context; travels with the messages")
            .takes(SendRequest.class)
            .answers(201, "The events are durable", SendAnswer.class)
            .problems(
                ProblemType.UNKNOWN_QUEUE,
                ProblemType.SESSION_MODE_MISMATCH,
                ProblemType.REJECTED));
  }

  private Response send(Request request) {
    var queue = queues.named(request);
    var messages =
        request.json(SendRequest::read).messages().stream()
            .map(SendRequest.Item::toMessage)
            .toList();
    var outcomes = traces.send(queue, messages, all -> queues.provider().send(queue, all));
    return Response.created(new SendAnswer(outcomes.stream().map(SendAnswer.Item::of).toList()));
  }
}
