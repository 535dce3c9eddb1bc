package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.sqs.SqsCalls.Hidden;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The messages of a standard queue. Each receive is an attempt, as SQS counts it. */
final class SqsMessages implements MessageSource, AutoCloseable {
  private final SqsQueue queue;
  private final DeleteMessages deleting;
  private final PollQueue polling;
  private final Queue<InHand> arrived = new ConcurrentLinkedQueue<>();
  private final Map<String, InHand> inHand = new ConcurrentHashMap<>();

  SqsMessages(SqsQueue queue, DeleteMessages deleting) {
    this.queue = queue;
    this.deleting = deleting;
    this.polling = new PollQueue(queue, this::arrived);
  }

  @Override
  public List<Receipted> receive(int max, Duration wait) throws InterruptedException {
    if (max < 1) {
      throw new IllegalArgumentException("max must be at least 1, was " + max);
    }
    inHand.values().removeIf(this::isOver);
    polling.await(wait, () -> !arrived.isEmpty());
    var batch = new ArrayList<Receipted>();
    while (batch.size() < max) {
      var next = arrived.poll();
      if (next == null) {
        break;
      }
      if (renewIfOurs(next)) {
        inHand.put(next.received().receipt(), next);
        batch.add(
            new Receipted(
                next.item().delivery(Integer.MAX_VALUE),
                next.received().receipt(),
                queue.clock().now().plus(queue.settings().lockDuration())));
      }
    }
    return batch;
  }

  /**
   * Returns whether the message is still ours. A worker counts the lock from its request, so a
   * message that has waited here is hidden again.
   */
  private boolean renewIfOurs(InHand next) {
    var age = queue.time().since(next.deadline()).plus(lock());
    return age.compareTo(Duration.ofMillis(100)) < 0 || hide(next, queue.lockSeconds());
  }

  private Duration lock() {
    return Duration.ofSeconds(queue.lockSeconds());
  }

  private boolean arrived(List<Received> messages) {
    var early = new ArrayList<Hidden>();
    for (var received : messages) {
      var due = queue.dueIn(received);
      if (queue.isExpired(received)) {
        setAside(received, received.receives() - 1, SqsQueue.EXPIRED);
      } else if (queue.settings().isDeadLetterAfter(received.receives() - 1)) {
        setAside(received, received.receives() - 1, PoisonPolicy.USED_UP);
      } else if (due.isPositive()) {
        early.add(new Hidden(received.receipt(), SqsQueue.seconds(due)));
      } else {
        var known = new AttemptBook.Known(received.receives() - 1, 0, false, "");
        arrived.add(
            new InHand(Item.of(received, known), queue.time().nanoTime() + lock().toNanos()));
      }
    }
    if (!early.isEmpty()) {
      queue.calls().hideAll(early);
    }
    return true;
  }

  private void setAside(Received received, int attempts, String reason) {
    queue.setAside(received, attempts, reason, "");
    var unused =
        deleting
            .delete(received.receipt(), new DeleteMessages.HoldDeletions(), () -> false)
            .exceptionally(failure -> null);
  }

  @Override
  public CompletionStage<Void> settle(String receipt, Settlement settlement) {
    var held = inHand.remove(receipt);
    if (held == null || isOver(held)) {
      return CompletableFuture.failedFuture(lockLost(receipt));
    }
    try {
      return switch (settlement) {
        case Settlement.Complete complete -> delete(held);
        case Settlement.DeadLetter letter -> deadLetter(held, letter.reason(), letter.error());
        case Settlement.Park park -> deadLetter(held, park.reason(), "");
        case Settlement.Retry retry -> retry(held, retry);
      };
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletableFuture<Void> retry(InHand held, Settlement.Retry retry) {
    if (queue.settings().settlementAfter(held.received().receives(), retry)
        instanceof Settlement.DeadLetter letter) {
      return deadLetter(held, letter.reason(), letter.error());
    }
    return hideAgain(held, SqsQueue.seconds(retry.delay()))
        ? CompletableFuture.completedFuture(null)
        : CompletableFuture.failedFuture(lockLost(held.received().receipt()));
  }

  private CompletableFuture<Void> deadLetter(InHand held, String reason, String error) {
    if (!hide(held, queue.lockSeconds())) {
      return CompletableFuture.failedFuture(lockLost(held.received().receipt()));
    }
    queue.setAside(held.received(), held.received().receives(), reason, error);
    return delete(held);
  }

  private CompletableFuture<Void> delete(InHand held) {
    return deleting
        .delete(held.received().receipt(), new DeleteMessages.HoldDeletions(), () -> !isOver(held))
        .exceptionallyCompose(failure -> CompletableFuture.failedFuture(translate(failure, held)));
  }

  private static Throwable translate(Throwable failure, InHand held) {
    var cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return cause instanceof DeleteMessages.ReceiptRefused
        ? lockLost(held.received().receipt())
        : cause;
  }

  @Override
  public Instant renew(String receipt) {
    var held = inHand.get(receipt);
    if (held == null || isOver(held) || !hide(held, queue.lockSeconds())) {
      throw lockLost(receipt);
    }
    inHand.computeIfPresent(
        receipt, (key, old) -> new InHand(old.item(), queue.time().nanoTime() + lock().toNanos()));
    return queue.clock().now().plus(queue.settings().lockDuration());
  }

  /**
   * Returns whether the lock has expired. A standard queue would accept a late delete until another
   * consumer receives the message, so the provider refuses it here.
   */
  private boolean isOver(InHand held) {
    return queue.time().nanoTime() - held.deadline() >= 0;
  }

  private boolean hideAgain(InHand held, int seconds) {
    try {
      return hide(held, seconds);
    } catch (KeeperException.Unavailable e) {
      throw new KeeperException.OutcomeUnknown("The retry of a message of " + queue.name(), e);
    }
  }

  private boolean hide(InHand held, int seconds) {
    return queue.calls().hide(List.of(new Hidden(held.received().receipt(), seconds))).isEmpty();
  }

  private static KeeperException.LockLost lockLost(String receipt) {
    return new KeeperException.LockLost(
        "message with receipt " + receipt.substring(0, Math.min(12, receipt.length())), 1);
  }

  @Override
  public void close() {
    polling.close();
  }

  private record InHand(Item item, long deadline) {
    Received received() {
      return item.received();
    }
  }
}
