package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Releases sessions when their owners are done: updates the record, then shelves the session while
 * its head waits, or returns it to the broker.
 *
 * <p>If the record must be changed first, the owner does not wait for that round trip. A worker of
 * this process that wants the same session waits.
 */
final class GiveBackSessions {
  private static final long PATIENCE_SECONDS = 5;

  private final QueueContext queue;
  private final ShelveSessions shelf;
  private final Map<SessionId, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();

  GiveBackSessions(QueueContext queue, ShelveSessions shelf) {
    this.queue = queue;
    this.shelf = shelf;
  }

  /**
   * Releases a session.
   *
   * @param settledUpTo the last settled sequence number of the hold; 0 if there is none
   */
  void giveBack(OpenSession open, long settledUpTo) {
    var change = changeOf(open, settledUpTo);
    if (change == Change.NONE) {
      finish(open);
      return;
    }
    var done = new CompletableFuture<Void>();
    underWay.put(open.id, done);
    Thread.startVirtualThread(
        () -> {
          try {
            make(change, open);
          } finally {
            finish(open);
            underWay.remove(open.id, done);
            done.complete(null);
          }
        });
  }

  private Change changeOf(OpenSession open, long settledUpTo) {
    var record = open.record();
    boolean isHeadBack = record.inHand() && record.head() > settledUpTo;
    if (!open.isStored() || !(isHeadBack || open.inbox.isEmpty())) {
      return Change.NONE;
    }
    long nextHead = isHeadBack ? record.head() : settledUpTo + 1;
    long nextEpoch = Epochs.first(queue.clock().now(), nextHead);
    if (record.isForgettable(settledUpTo, nextEpoch)) {
      return Change.FORGET;
    }
    return isHeadBack ? Change.UNMARK : Change.NONE;
  }

  private static void make(Change change, OpenSession open) {
    try {
      switch (change) {
        case FORGET -> open.forgetRecord();
        case UNMARK -> open.writeRecord(open.record().givenBack());
        case NONE -> {}
      }
    } catch (KeeperException e) {
      // The lock ended meanwhile, so there is nothing to release.
    }
  }

  private void finish(OpenSession open) {
    if (open.isLost() || !shelf.shelveIfWaiting(open)) {
      open.close();
    }
  }

  /** Waits until a session that is being released is free. */
  void await(SessionId session) throws InterruptedException {
    var done = underWay.get(session);
    if (done != null) {
      waitFor(done);
    }
  }

  void awaitAll() {
    try {
      waitFor(
          CompletableFuture.allOf(
              List.copyOf(underWay.values()).toArray(new CompletableFuture<?>[0])));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void waitFor(CompletableFuture<Void> done) throws InterruptedException {
    try {
      done.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // The lock will expire by itself.
    }
  }

  /** The change of the broker's record. */
  private enum Change {
    NONE,
    /** The head was open and is not any more. */
    UNMARK,
    /** The record contains nothing that must be kept. */
    FORGET
  }
}
