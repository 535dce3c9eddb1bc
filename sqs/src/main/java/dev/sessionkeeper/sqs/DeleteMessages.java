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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes completed messages of all sessions of a queue, ten with one call.
 *
 * <p>One call at a time, so the deletions of a session take effect in order; whatever comes while a
 * call is under way goes with the next one.
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
   * Deletes a message. Fails with {@link ReceiptRefused} if it is no longer ours.
   *
   * @param lane what the deletions of one hold have in common: after one that failed, none behind
   *     it is done, or a message would come again after its successors are gone
   */
  CompletableFuture<Void> delete(String receipt, Lane lane) {
    var deletion =
        new Deletion(receipt, lane, new CompletableFuture<>(), new CompletableFuture<>());
    long number = deletions.incrementAndGet();
    underWay.put(number, deletion.told());
    var unused = deletion.told().whenComplete((told, failure) -> underWay.remove(number));
    waiting.add(deletion);
    runIfNeeded();
    return deletion.done();
  }

  /** Waits for what is under way: whoever closed a session does not have to. */
  void close() {
    var all = CompletableFuture.allOf(underWay.values().toArray(new CompletableFuture<?>[0]));
    try {
      all.get(CLOSE_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.debug("Not everything was deleted before the end; what was not comes again", e);
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
      if (deletion.lane().isBroken) {
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
      try {
        left = tryToDelete(left, !RETRY.allowsAfter(attempt));
      } catch (RuntimeException e) {
        left.forEach(deletion -> deletion.fail(e));
        return;
      }
      if (!left.isEmpty()) {
        pause(RETRY.delayAfter(attempt, random));
      }
    }
  }

  /** Those that may be tried again. */
  private List<Deletion> tryToDelete(List<Deletion> batch, boolean isLast) {
    var failures = calls.delete(batch.stream().map(Deletion::receipt).toList());
    var again = new ArrayList<Deletion>();
    for (int i = 0; i < batch.size(); i++) {
      var failure = failures.get(i);
      if (failure == null) {
        batch.get(i).complete();
      } else if (failure.isReceiptRefused()) {
        batch.get(i).fail(new ReceiptRefused(failure.reason()));
      } else if (isLast) {
        batch.get(i).fail(new KeeperException.Unavailable("SQS, " + failure.reason()));
      } else {
        again.add(batch.get(i));
      }
    }
    return again;
  }

  private static void pause(Duration delay) {
    try {
      Thread.sleep(delay);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** One hold. */
  static final class Lane {
    private volatile boolean isBroken;
  }

  /**
   * @param told complete when everybody who waits for {@code done} has been told: a stage completes
   *     those that depend on it one after the other, and a close must not be the first of them
   */
  private record Deletion(
      String receipt, Lane lane, CompletableFuture<Void> done, CompletableFuture<Void> told) {
    void complete() {
      done.complete(null);
      told.complete(null);
    }

    void fail(RuntimeException failure) {
      lane.isBroken = true;
      done.completeExceptionally(failure);
      told.complete(null);
    }
  }

  /** SQS no longer knows the receipt: its time was over. */
  static final class ReceiptRefused extends RuntimeException {
    private static final long serialVersionUID = 1;

    ReceiptRefused(String reason) {
      super(reason);
    }
  }
}
