package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.server.security.SignTexts;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.tracing.TraceMessages;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Receives from unordered queues, and settles by receipt. */
final class UnorderedRoutes {
  private final Queues queues;
  private final SignTexts receipts;
  private final TraceMessages traces;

  UnorderedRoutes(Queues queues, ServerSecret secret, TraceMessages traces) {
    this.traces = traces;
    this.receipts = secret.signing("receipt");
    this.queues = queues;
  }

  List<Route> routes() {
    return List.of(
        Route.post("/queues/{queue}/receive", Role.CONSUME, Scope.queue(), this::receive)
            .summary(
                "Messages of an UNORDERED queue, each with a receipt; at most 8 MB in one answer")
            .takes(ReceiptRequest.Receive.class)
            .answers(200, "The messages; none if none came in time", DeliveryView.Batch.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.SESSION_MODE_MISMATCH),
        Route.post("/queues/{queue}/settlements", Role.CONSUME, Scope.queue(), this::settle)
            .summary("Settle deliveries of an UNORDERED queue, each independently of the others")
            .takes(ReceiptRequest.class)
            .answers(200, "The outcome of each settlement", ReceiptRequest.Answer.class)
            .problems(
                ProblemType.UNKNOWN_QUEUE,
                ProblemType.SESSION_MODE_MISMATCH,
                ProblemType.SESSION_LOCK_LOST),
        Route.post("/queues/{queue}/renewals", Role.CONSUME, Scope.queue(), this::renew)
            .summary("Lock a message of an UNORDERED queue for another lock duration")
            .takes(ReceiptRequest.Renew.class)
            .answers(200, "The lock was extended", ReceiptRequest.Renewed.class)
            .problems(
                ProblemType.UNKNOWN_QUEUE,
                ProblemType.SESSION_MODE_MISMATCH,
                ProblemType.SESSION_LOCK_LOST));
  }

  private Response renew(Request request) {
    var queue = queues.named(request);
    var wish = request.json(ReceiptRequest.Renew::read);
    var receipt =
        receipts
            .verify(wish.receipt(), queue.value(), request.actor().name())
            .orElseThrow(() -> lockLost());
    return Response.ok(
        new ReceiptRequest.Renewed(queues.provider().messages(queue).renew(receipt)));
  }

  private Response receive(Request request) throws Exception {
    var queue = queues.named(request);
    var wish = request.json(ReceiptRequest.Receive::read);
    var source = queues.provider().messages(queue);
    int max = wish.max().orElse(10);
    var patience = wish.patience().orElse(Duration.ZERO);
    var deliveries =
        traces.receive(
            queue,
            Optional.empty(),
            () -> ReceiveForAnswer.receive(request, max, patience, source::receive),
            received -> received.delivery().message());
    return Response.ok(
            new DeliveryView.Batch(
                deliveries.stream()
                    .map(delivery -> DeliveryView.of(delivery, handleOf(delivery, queue, request)))
                    .toList()))
        .ifUndelivered(() -> giveBack(source, deliveries));
  }

  /** Returns the provider's receipt, signed for the queue and the credential that received. */
  private String handleOf(MessageSource.Receipted delivery, QueueName queue, Request request) {
    return receipts.sign(delivery.receipt(), queue.value(), request.actor().name());
  }

  private static void giveBack(MessageSource source, List<MessageSource.Receipted> deliveries) {
    var again = Settlement.keepRetrying(Duration.ZERO, "the receiver hung up");
    deliveries.stream()
        .map(delivery -> source.settle(delivery.receipt(), again).toCompletableFuture())
        .toList()
        .forEach(CompletableFuture::join);
  }

  private Response settle(Request request) {
    var queue = queues.named(request);
    var wishes = request.json(ReceiptRequest::read).settlements();
    var source = queues.provider().messages(queue);
    var stages =
        wishes.stream()
            .map(
                wish ->
                    receipts
                        .verify(wish.receipt(), queue.value(), request.actor().name())
                        .map(receipt -> settle(source, receipt, wish))
                        .orElseGet(UnorderedRoutes::notHeld))
            .toList();
    var done = new ArrayList<ReceiptRequest.Done>();
    KeeperException.LockLost lost = null;
    for (int i = 0; i < stages.size(); i++) {
      boolean settled = true;
      try {
        stages.get(i).join();
      } catch (CompletionException e) {
        lost = lockLostOf(e);
        settled = false;
      }
      done.add(new ReceiptRequest.Done(wishes.get(i).receipt(), wishes.get(i).action(), settled));
    }
    if (lost != null && done.stream().noneMatch(ReceiptRequest.Done::settled)) {
      throw lost;
    }
    return Response.ok(new ReceiptRequest.Answer(done));
  }

  private static CompletableFuture<Void> notHeld() {
    return CompletableFuture.failedFuture(lockLost());
  }

  private static KeeperException.LockLost lockLost() {
    return new KeeperException.LockLost("the message of this receipt", 0);
  }

  private static CompletableFuture<Void> settle(
      MessageSource source, String receipt, ReceiptRequest.Item wish) {
    try {
      return source.settle(receipt, wish.settlement()).toCompletableFuture();
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static KeeperException.LockLost lockLostOf(CompletionException failure) {
    if (failure.getCause() instanceof KeeperException.LockLost lost) {
      return lost;
    }
    throw failure;
  }
}
