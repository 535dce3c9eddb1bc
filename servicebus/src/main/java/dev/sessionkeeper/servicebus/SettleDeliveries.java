package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.servicebus.ServiceBusHeldSession.Handed;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Settles open deliveries in order. The caller holds the session's lock. */
final class SettleDeliveries {
  private final OpenSession open;
  private final QueueContext queue;
  private final HandOut handOut;
  private long settledUpTo;

  SettleDeliveries(OpenSession open, QueueContext queue, HandOut handOut) {
    this.open = open;
    this.queue = queue;
    this.handOut = handOut;
  }

  /** Returns the last sequence number of this hold that is settled for good; 0 if there is none. */
  long settledUpTo() {
    return settledUpTo;
  }

  void requireInOrder(List<Settled> settlements) {
    var out = handOut.all();
    for (int i = 0; i < settlements.size(); i++) {
      var settled = settlements.get(i);
      if (i >= out.size() || out.get(i).sequence() != settled.sequence()) {
        throw new KeeperException.OutOfOrder(
            open.id,
            settled.sequence(),
            i < out.size()
                ? "message " + out.get(i).sequence() + " comes first"
                : "it is not an open delivery");
      }
      if (settled.settlement() instanceof Settlement.Park) {
        throw new KeeperException.NotSupported("servicebus", "park a session");
      }
      if (settled.settlement() instanceof Settlement.Retry && i < settlements.size() - 1) {
        throw new KeeperException.OutOfOrder(
            open.id, settlements.get(i + 1).sequence(), "it is behind one that is tried again");
      }
    }
  }

  CompletableFuture<Void> settle(List<Settled> settlements) {
    if (settlements.size() == 1) {
      return settle(settlements.get(0).settlement());
    }
    var stages = new ArrayList<CompletableFuture<Void>>();
    for (var settled : settlements) {
      var stage = settle(settled.settlement());
      stages.add(stage);
      if (stage.isCompletedExceptionally()) {
        break;
      }
    }
    return CompletableFuture.allOf(stages.toArray(new CompletableFuture<?>[0]));
  }

  private CompletableFuture<Void> settle(Settlement settlement) {
    var first = handOut.peek().orElseThrow();
    return switch (settlement) {
      case Settlement.Complete complete -> {
        done(first);
        yield open.complete(first.message());
      }
      case Settlement.DeadLetter letter -> {
        var error = letter.error().isEmpty() ? lastErrorOf(first) : letter.error();
        yield deadLetter(first, letter.reason(), error);
      }
      case Settlement.Retry retry -> retry(first, retry);
      case Settlement.Park park ->
          CompletableFuture.failedFuture(
              new KeeperException.NotSupported("servicebus", "park a session"));
    };
  }

  private CompletableFuture<Void> retry(Handed first, Settlement.Retry retry) {
    if (queue.settings().settlementAfter(first.attempt(), retry)
        instanceof Settlement.DeadLetter letter) {
      var dead = deadLetter(first, letter.reason(), letter.error());
      handOut.takeBackAll();
      return dead;
    }
    long due = queue.clock().now().plus(retry.delay()).toEpochMilli();
    int failures = first.attempt() - (retry.counted() ? 0 : 1);
    open.writeRecord(open.record().failed(first.sequence(), failures, due, retry.reason()));
    handOut.takeBackAll();
    return CompletableFuture.completedFuture(null);
  }

  private CompletableFuture<Void> deadLetter(Handed first, String reason, String error) {
    done(first);
    var dead =
        open.deadLetter(
            first.message(),
            reason,
            error,
            queue.deadLetterProperties(first.message(), first.attempt()));
    // A dead letter takes two requests, so later settlements must wait for it: if the connection
    // broke in between, its message would come again after its successors were done.
    waitFor(dead);
    return dead;
  }

  private static void waitFor(CompletableFuture<Void> stage) {
    try {
      stage.join();
    } catch (CompletionException e) {
      // The caller finds the failure in the stage.
    }
  }

  private void done(Handed first) {
    settledUpTo = first.sequence();
    handOut.settled();
  }

  private String lastErrorOf(Handed first) {
    var record = open.record();
    return record.head() == first.sequence() ? record.lastError() : "";
  }
}
