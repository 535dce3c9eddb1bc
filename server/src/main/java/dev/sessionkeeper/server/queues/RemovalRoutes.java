package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.feature.HoldLimits;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reason;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.AuditedQueues;
import dev.sessionkeeper.spi.RemovableQueues;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Deletes and purges queues. The caller must repeat the queue's name, which prevents accidents. */
final class RemovalRoutes {
  private static final String CONFIRM = "confirm";

  private final Queues queues;
  private final AuditedQueues audited;
  private final Supplier<HoldLimits> limits;

  RemovalRoutes(Queues queues, AuditedQueues audited, Supplier<HoldLimits> limits) {
    this.queues = queues;
    this.audited = audited;
    this.limits = limits;
  }

  List<Route> routes() {
    return List.of(
        Route.delete("/queues/{queue}", Role.ADMIN, Scope.queue(), this::delete)
            .summary(
                "Delete a queue with its messages, dead letters and session state; audited."
                    + " Owners lose their leases")
            .header(Reason.HEADER, Reason.ABOUT)
            .query(CONFIRM, "The name of the queue once more")
            .answers(204, "Deleted")
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.CONFLICT, ProblemType.NOT_SUPPORTED),
        Route.post("/queues/{queue}/purge", Role.ADMIN, Scope.queue(), this::purge)
            .summary(
                "Delete all messages, or all dead letters, of a queue; audited."
                    + " Owners lose their leases")
            .header(Reason.HEADER, Reason.ABOUT)
            .takes(PurgeRequest.class)
            .answers(200, "Deleted", PurgeRequest.Answer.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_SUPPORTED));
  }

  private record Wish(Optional<String> confirm) {
    static Wish read(Fields in) {
      return new Wish(in.optional(CONFIRM, Decode.text(200)).get());
    }
  }

  private Response delete(Request request) {
    var queue = queues.named(request);
    requireConfirmed(queue, request.query(Wish::read).confirm());
    queues.settings(queue);
    queues.able(RemovableQueues.class, "delete");
    refuseIfOfABot(queue);
    request.extendDeadline(Request.MUCH_WORK);
    var entry = AuditLog.Entry.of(request.actor(), "queue.delete", queue.value(), "");
    if (!audited.delete(queue, count -> entry)) {
      throw new KeeperException.UnknownQueue(queue);
    }
    return Response.noContent();
  }

  private Response purge(Request request) {
    var queue = queues.named(request);
    var wish = request.json(PurgeRequest::read);
    requireConfirmed(queue, Optional.of(wish.confirm()));
    queues.settings(queue);
    queues.able(RemovableQueues.class, "purge");
    request.extendDeadline(Request.MUCH_WORK);
    long purged =
        audited.purge(
            queue,
            wish.what(),
            count ->
                AuditLog.Entry.of(
                    request.actor(), "queue.purge", queue.value(), count + " " + wish.what()));
    return Response.ok(PurgeRequest.Answer.of(queue.value(), wish.what(), purged));
  }

  private static void requireConfirmed(QueueName queue, Optional<String> confirm) {
    if (confirm.filter(queue.value()::equals).isEmpty()) {
      throw Problem.invalid(CONFIRM, "must repeat the name of the queue, " + queue).toException();
    }
  }

  /** Refuses to delete the queue of a bot, which would have no queue until the next start. */
  private void refuseIfOfABot(QueueName queue) {
    limits
        .get()
        .botOf(queue)
        .ifPresent(
            bot -> {
              throw ProblemType.CONFLICT
                  .with(
                      "Queue "
                          + queue
                          + " belongs to bot "
                          + bot
                          + ". Remove the bot from the configuration and reload, then delete the queue")
                  .toException();
            });
  }
}
