package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Settles open deliveries in order. The caller holds the session's lock. */
final class SettleDeliveries {
  private final SqsQueue queue;
  private final SessionId session;
  private final InFlight inFlight;
  private final DeleteMessages deleting;
  private final DeleteMessages.HoldDeletions hold = new DeleteMessages.HoldDeletions();

  SettleDeliveries(SqsQueue queue, SessionId session, InFlight inFlight, DeleteMessages deleting) {
    this.queue = queue;
    this.session = session;
    this.inFlight = inFlight;
    this.deleting = deleting;
  }

  void requireInOrder(List<Settled> settlements) {
    var out = inFlight.out();
    for (int i = 0; i < settlements.size(); i++) {
      var settled = settlements.get(i);
      if (i >= out.size() || out.get(i).sequence() != settled.sequence()) {
        throw new KeeperException.OutOfOrder(
            session,
            settled.sequence(),
            i < out.size()
                ? "message " + out.get(i).sequence() + " comes first"
                : "it is not an open delivery");
      }
      if (settled.settlement() instanceof Settlement.Park) {
        throw new KeeperException.NotSupported("sqs", "park a session");
      }
      if (settled.settlement() instanceof Settlement.Retry && i < settlements.size() - 1) {
        throw new KeeperException.OutOfOrder(
            session, settlements.get(i + 1).sequence(), "it is behind one that is tried again");
      }
    }
  }

  CompletableFuture<Void> settle(List<Settled> settlements, long epoch) {
    var stages = new ArrayList<CompletableFuture<Void>>();
    for (var settled : settlements) {
      var stage = settle(settled.settlement());
      stages.add(stage);
      if (stage.isCompletedExceptionally()) {
        break;
      }
    }
    return CompletableFuture.allOf(stages.toArray(new CompletableFuture<?>[0]))
        .exceptionallyCompose(failure -> CompletableFuture.failedFuture(translate(failure, epoch)));
  }

  private Throwable translate(Throwable failure, long epoch) {
    var cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return cause instanceof DeleteMessages.ReceiptRefused
        ? new KeeperException.LockLost("session " + session, epoch)
        : cause;
  }

  private CompletableFuture<Void> settle(Settlement settlement) {
    var first = inFlight.first().orElseThrow();
    return switch (settlement) {
      case Settlement.Complete complete -> delete(first);
      case Settlement.DeadLetter letter ->
          deadLetter(
              first,
              letter.reason(),
              letter.error().isEmpty() ? first.lastError() : letter.error());
      case Settlement.Retry retry -> retry(first, retry);
      case Settlement.Park park ->
          CompletableFuture.failedFuture(new KeeperException.NotSupported("sqs", "park a session"));
    };
  }

  private CompletableFuture<Void> delete(Item first) {
    inFlight.settled();
    return deleting.delete(first.received().receipt(), hold, inFlight.isHiddenNow());
  }

  private CompletableFuture<Void> deadLetter(Item first, String reason, String error) {
    // Renews first: if another consumer has received the message, a copy would be a duplicate.
    if (!inFlight.hideAll(queue.lockSeconds())) {
      return CompletableFuture.failedFuture(
          inFlight.isClosed()
              ? new DeleteMessages.ReceiptRefused("the receipt has expired")
              : new KeeperException.Unavailable("SQS queue " + queue.name()));
    }
    queue.setAside(
        first.received(), first.attempt(queue.settings().maxDeliveryCount()), reason, error);
    return delete(first);
  }

  private CompletableFuture<Void> retry(Item first, Settlement.Retry retry) {
    int attempt = first.attempt(queue.settings().maxDeliveryCount());
    if (queue.settings().settlementAfter(attempt, retry) instanceof Settlement.DeadLetter letter) {
      var dead = deadLetter(first, letter.reason(), letter.error());
      inFlight.takeBack();
      return dead;
    }
    int tried = retry.counted() ? 1 : 0;
    queue.attempts().again(first.received().messageId(), tried, retry.reason());
    inFlight.again(first.failed(tried, retry.reason()), retry.delay());
    return CompletableFuture.completedFuture(null);
  }
}
