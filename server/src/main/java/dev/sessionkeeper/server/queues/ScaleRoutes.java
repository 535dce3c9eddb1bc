package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.operations.ScaleSignal;
import java.util.List;

/** Tells an autoscaler how many consumers a queue needs. */
final class ScaleRoutes {
  private static final int SLOTS = 16;
  private static final int MOST_SLOTS = 100_000;

  private final Queues queues;

  ScaleRoutes(Queues queues) {
    this.queues = queues;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/queues/{queue}/scale", Role.READ, Scope.queue(), this::show)
            .summary("How many consumers the queue needs, for KEDA and other autoscalers")
            .query("slots", "Sessions that one consumer handles at once, 1 to 100000. Default: 16")
            .answers(200, "The signal", Signal.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_SUPPORTED));
  }

  /**
   * The sessions with work, and the consumers that they need.
   *
   * @param sessions sessions that need a slot now: ready and held
   * @param readyPerSlot ready sessions divided by occupied slots
   * @param slots slots of one consumer, as requested
   * @param consumers how many consumers give every session a slot
   */
  record Signal(
      String queue,
      long readySessions,
      long heldSessions,
      long sessions,
      double readyPerSlot,
      int slots,
      long consumers) {}

  private Response show(Request request) {
    var queue = queues.named(request);
    int slots =
        request.query(
            in -> {
              var wish = in.optional("slots", SLOTS, Decode.integer(1, MOST_SLOTS));
              in.check();
              return wish.get();
            });
    var signal = ScaleSignal.of(queues.inspectable().stats(queue));
    return Response.ok(
        new Signal(
            queue.value(),
            signal.readySessions(),
            signal.heldSessions(),
            signal.sessions(),
            signal.readyPerSlot(),
            slots,
            signal.consumers(slots)));
  }
}
