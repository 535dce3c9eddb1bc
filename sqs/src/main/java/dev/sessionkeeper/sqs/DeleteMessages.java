package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes completed messages of all sessions of a queue, ten with one call.
 *
 * <p>One call at a time, so the deletions of a session take effect in order; deletions that arrive
 * during a call go into the next one.
 */
final class DeleteMessages {
  private static final Logger log = LoggerFactory.getLogger(DeleteMessages.class);
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);
  private static final RetryPolicy RETRY = RetryPolicy.forStore(4);

  private final SqsCalls calls;
  private final Executor io;
  private final Queue<Deletion> waiting = new ConcurrentLinkedQueue<>();
  private final Map<Long, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();
  private final AtomicLong deletions = new AtomicLong();
  private final AtomicBoolean running = new AtomicBoolean();
  private final SplittableRandom random = new SplittableRandom();

  DeleteMessages(SqsCalls calls, Executor io) {
    this.calls = calls;
    this.io = io;
  }

  /**
   * Deletes a message. Fails with {@link ReceiptRefused} if the message is no longer ours.
   *
   * @param hold shared by the deletions of one hold: after one that failed, no later one is done,
   *     or a message would come again after its successors are gone
   * @param isStillHidden returns whether the message is in flight here, by the monotonic clock
   */
  CompletableFuture<Void> delete(
      String receipt, HoldDeletions hold, BooleanSupplier isStillHidden) {
    var deletion = new Deletion(receipt, hold, isStillHidden);
    long number = deletions.incrementAndGet();
    underWay.put(number, deletion.told);
    var unused = deletion.told.whenComplete((told, failure) -> underWay.remove(number));
    waiting.add(deletion);
    runIfNeeded();
    return deletion.done;
  }

  /** Waits for deletions in progress, so that closing a session need not. */
  void close() {
    var all = CompletableFuture.allOf(underWay.values().toArray(new CompletableFuture<?>[0]));
    try {
      all.get(CLOSE_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.debug(
          "Not all messages were deleted before the end; the others will be delivered again", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void runIfNeeded() {
    if (!waiting.isEmpty() && running.compareAndSet(false, true)) {
      io.execute(this::run);
    }
  }

  private void run() {
    try {
      for (var batch = next(); !batch.isEmpty(); batch = next()) {
        delete(batch);
      }
    } finally {
      running.set(false);
      runIfNeeded();
    }
  }

  private List<Deletion> next() {
    var batch = new ArrayList<Deletion>();
    while (batch.size() < SqsCalls.BATCH) {
      var deletion = waiting.poll();
      if (deletion == null) {
        break;
      }
      if (deletion.hold.isBroken) {
        deletion.fail(new KeeperException.Unavailable("SQS, for an earlier message, and this one"));
      } else {
        batch.add(deletion);
      }
    }
    return batch;
  }

  private void delete(List<Deletion> batch) {
    var left = batch;
    for (int attempt = 1; !left.isEmpty(); attempt++) {
      boolean isLast = !RETRY.allowsAfter(attempt);
      try {
        left = tryToDelete(left, isLast);
      } catch (KeeperException.OutcomeUnknown | KeeperException.Unavailable e) {
        // Deleting twice equals deleting once, so an attempt without an answer is repeated.
        boolean isUnknown = e instanceof KeeperException.OutcomeUnknown;
        left.forEach(deletion -> deletion.mayBeDone |= isUnknown);
        if (isLast) {
          left.forEach(deletion -> deletion.fail(deletion.mayBeDone ? unknown(e) : e));
          return;
        }
      } catch (RuntimeException e) {
        left.forEach(deletion -> deletion.fail(e));
        return;
      }
      if (!left.isEmpty()) {
        pause(RETRY.delayAfter(attempt, random));
      }
    }
  }

  /** Deletes a batch. Returns the deletions that may be tried again. */
  private List<Deletion> tryToDelete(List<Deletion> batch, boolean isLast) {
    var failures = calls.delete(batch.stream().map(deletion -> deletion.receipt).toList());
    var again = new ArrayList<Deletion>();
    for (int i = 0; i < batch.size(); i++) {
      var failure = failures.get(i);
      if (failure == null) {
        batch.get(i).complete();
      } else if (failure.isReceiptRefused()) {
        batch.get(i).refused(failure.reason());
      } else if (isLast) {
        batch.get(i).fail(failureOf(batch.get(i), failure));
      } else {
        again.add(batch.get(i));
      }
    }
    return again;
  }

  private static KeeperException failureOf(Deletion deletion, SqsCalls.Failure failure) {
    var unavailable = new KeeperException.Unavailable("SQS, " + failure.reason());
    return deletion.mayBeDone ? unknown(unavailable) : unavailable;
  }

  private static KeeperException unknown(KeeperException cause) {
    return new KeeperException.OutcomeUnknown("The deletion of a message from SQS", cause);
  }

  private static void pause(Duration delay) {
    try {
      Thread.sleep(delay);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The deletions of one hold. */
  static final class HoldDeletions {
    private volatile boolean isBroken;
  }

  /** A message to delete. Only the deleting thread changes it. */
  private static final class Deletion {
    private final String receipt;
    private final HoldDeletions hold;
    private final BooleanSupplier isStillHidden;
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    // Completes when every dependent of "done" has run. A stage completes its dependents one after
    // the other, and a close must not be the first of them.
    private final CompletableFuture<Void> told = new CompletableFuture<>();
    private boolean mayBeDone;

    Deletion(String receipt, HoldDeletions hold, BooleanSupplier isStillHidden) {
      this.receipt = receipt;
      this.hold = hold;
      this.isStillHidden = isStillHidden;
    }

    void complete() {
      done.complete(null);
      told.complete(null);
    }

    /**
     * Handles an unknown receipt. While the message is hidden no other consumer can have received
     * it, so if an earlier attempt had no answer, that attempt has deleted the message.
     */
    void refused(String reason) {
      if (mayBeDone && isStillHidden.getAsBoolean()) {
        complete();
      } else {
        var refused = new ReceiptRefused(reason);
        fail(
            mayBeDone
                ? new KeeperException.OutcomeUnknown("The deletion of a message from SQS", refused)
                : refused);
      }
    }

    void fail(RuntimeException failure) {
      hold.isBroken = true;
      done.completeExceptionally(failure);
      told.complete(null);
    }
  }

  /** Reports that SQS no longer accepts the receipt, because its time was over. */
  static final class ReceiptRefused extends RuntimeException {
    private static final long serialVersionUID = 1;

    ReceiptRefused(String reason) {
      super(reason);
    }
  }
}
