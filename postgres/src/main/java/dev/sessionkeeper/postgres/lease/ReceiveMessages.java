package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.postgres.batch.UnpackBatches;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.poll.Polling;
import dev.sessionkeeper.postgres.prefetch.FetchMessages;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * Receives the messages of one hold. Messages come with the claim, or by a fetch if there may be
 * more. The reader feeds a cached session.
 */
public final class ReceiveMessages {
  private final HoldParts parts;
  private final Polling polling;
  private final TimeSource time;
  private final Hold hold;
  private final SettleSession settling;
  private final Runnable persist;

  /**
   * Receives messages.
   *
   * @param persist gives the session its row
   */
  ReceiveMessages(HoldParts parts, Hold hold, SettleSession settling, Runnable persist) {
    this.parts = parts;
    this.polling = parts.polling();
    this.time = parts.queue().time();
    this.persist = persist;
    this.hold = hold;
    this.settling = settling;
  }

  /**
   * Receives messages.
   *
   * @param isPatient whether a message that was just sent may be missed now, if it arrives soon
   */
  List<Delivery> receive(int max, Duration wait, boolean isPatient) throws InterruptedException {
    if (max < 1) {
      throw new IllegalArgumentException("max must be at least 1, was " + max);
    }
    long deadline = time.nanoTime() + Math.min(wait.toNanos(), Long.MAX_VALUE / 4);
    boolean hasLooked = false;
    while (true) {
      var other = hold.shared();
      if (other.isPresent()) {
        var left = Duration.ofNanos(Math.max(0, deadline - time.nanoTime()));
        return other.get().receive(BatchLimit.of(max), left, false);
      }
      Futures.quietly(hold.before());
      long now = time.nanoTime();
      if (!isSafe(now)) {
        // The poll extends the lease of the reader, or this lease is lost.
        Futures.join(polling.requests().join());
        now = time.nanoTime();
      }
      boolean look;
      boolean isTooOld;
      hold.lock.lock();
      try {
        hold.requireHeld();
        var batch = handOut(max, now);
        if (!batch.isEmpty()) {
          return batch;
        }
        isTooOld = hold.isInMemory() && hold.fetched.isNextExpired(moment(now));
        // A call that does not wait joins a poll, which costs less than a fetch of its own.
        look =
            !hold.isInMemory()
                && (hold.fetched.mayHaveMore()
                    || (hasLooked && now - hold.fetched.lookAgainAt() >= 0));
      } finally {
        hold.lock.unlock();
      }
      if (isTooOld) {
        // Only a row can be dead-lettered.
        persist.run();
        continue;
      }
      if (look) {
        if (fetch(max)) {
          continue;
        }
        hasLooked = true;
      } else if (!hasLooked && (!hold.isInMemory() || !isPatient)) {
        hasLooked = true;
        if (!polling.last().isCurrent()) {
          // A poll that begins now finds every message whose send has returned.
          Futures.join(polling.requests().join());
          if (!isPatient
              && polling.last().areBatchesLeft()
              && new UnpackBatches(parts.queue()).of(hold.id)) {
            hold.suspectMore();
          }
          continue;
        }
      }
      if (!awaitNews(deadline)) {
        return List.of();
      }
    }
  }

  /** Returns the database's time, for a session in memory. For a row the next fetch returns it. */
  private Instant moment(long now) {
    return hold.kept instanceof SessionLease.InMemory in ? in.cache().momentAt(now) : Instant.EPOCH;
  }

  /** Returns whether the lease is a row, or that of the reader in memory has not ended. */
  private boolean isSafe(long now) {
    return !(hold.kept instanceof SessionLease.InMemory in) || in.cache().isSafe(now);
  }

  private List<Delivery> handOut(int max, long now) {
    if (!isSafe(now)) {
      return List.of();
    }
    if (!hold.isInMemory() && now - hold.leaseEnd >= 0 && !hold.fetched.isEmpty()) {
      hold.fetched.forget();
    }
    var batch = hold.fetched.handOut(max, now, !hold.isInMemory(), moment(now));
    if (!batch.isEmpty()) {
      hold.lastMoved = now;
    }
    for (var delivery : batch) {
      hold.deliveries.add(delivery.sequence());
      hold.lastHandedOut = Math.max(hold.lastHandedOut, delivery.sequence());
    }
    return batch;
  }

  /** Fetches messages, and returns whether there are any. */
  private boolean fetch(int max) {
    long askedAt = time.nanoTime();
    int most;
    Set<Long> known;
    hold.lock.lock();
    try {
      known = hold.deliveries.all();
      most = hold.mostToFetch(Math.max(max, parts.room().messages())) + known.size();
      hold.fetched.beginRead(askedAt);
    } finally {
      hold.lock.unlock();
    }
    FetchMessages.FetchAnswer answer;
    try {
      answer = Futures.join(parts.calls().fetches().fetch(hold.id, hold.epoch, most));
    } catch (RuntimeException e) {
      hold.suspectMore();
      throw e;
    }
    hold.lock.lock();
    try {
      if (!answer.isHeld()) {
        throw hold.lost();
      }
      hold.leaseLasts(askedAt, Duration.between(answer.moment(), answer.until()));
      hold.fetched.received();
      if (answer.messages().size() >= most || answer.mayHaveMore()) {
        hold.fetched.suspectMore();
      }
      var found =
          answer.messages().stream()
              .filter(next -> !known.contains(next.delivery().sequence()))
              .toList();
      // The messages are fresh from now on, however long the answer took: the lease counts from the
      // question.
      settling.expire(hold.fetched.take(found, answer.moment(), askedAt, time.nanoTime()));
      return !hold.fetched.isEmpty();
    } finally {
      hold.lock.unlock();
    }
  }

  /** Waits for messages. Returns false if the time is over. */
  private boolean awaitNews(long deadline) throws InterruptedException {
    polling.receivers().begin();
    try {
      if (polling.last().areBatchesLeft()) {
        // While a consumer waits, polls search the rest of the backlog.
        polling.requests().wake();
      }
      return awaitNewsHere(deadline);
    } finally {
      polling.receivers().end();
    }
  }

  private boolean awaitNewsHere(long deadline) throws InterruptedException {
    hold.lock.lockInterruptibly();
    try {
      hold.fetched.beginWait(time.nanoTime());
      while (hold.fetched.isEmpty()
          && !hold.fetched.mayHaveMore()
          && !hold.isLost
          && !hold.isClosed
          && hold.shared().isEmpty()) {
        long now = time.nanoTime();
        if (deadline - now <= 0) {
          return false;
        }
        long look = hold.isInMemory() ? Long.MAX_VALUE : hold.fetched.lookAgainAt() - now;
        if (look <= 0) {
          return true;
        }
        hold.news.awaitNanos(Math.min(deadline - now, look));
      }
      return true;
    } finally {
      hold.lock.unlock();
    }
  }
}
