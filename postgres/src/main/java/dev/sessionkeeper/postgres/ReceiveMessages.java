package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * Receives the messages of one hold: those that came with it, by a fetch when something is known,
 * or may be suspected, to be there, or, while it is carried, by themselves.
 */
final class ReceiveMessages {
  private final HoldParts parts;
  private final Polling polling;
  private final TimeSource time;
  private final Hold hold;
  private final SettleLane settling;
  private final Runnable persist;

  /**
   * Receives.
   *
   * @param persist gives the session its row
   */
  ReceiveMessages(HoldParts parts, Hold hold, SettleLane settling, Runnable persist) {
    this.parts = parts;
    this.polling = parts.polling();
    this.time = parts.queue().time();
    this.persist = persist;
    this.hold = hold;
    this.settling = settling;
  }

  /**
   * Receives.
   *
   * @param isPatient whether something that has just been sent may be missed, if it comes soon
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
      Waits.quietly(hold.before());
      long now = time.nanoTime();
      if (!isSafe(now)) {
        // Either the lease of the reader is extended, or this one is lost.
        Waits.join(polling.requests().join());
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
        // Who does not wait joins a round, which costs less than a look of its own.
        look =
            !hold.isInMemory()
                && (hold.fetched.mayHaveMore()
                    || (hasLooked && now - hold.fetched.lookAgainAt() >= 0));
      } finally {
        hold.lock.unlock();
      }
      if (isTooOld) {
        // Its lane knows how to set it aside.
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
          // A round that begins now discovers everything whose send has returned.
          Waits.join(polling.requests().join());
          if (!isPatient
              && polling.last().areBundlesLeft()
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

  /** What time it is for the database, of a carried session; of a lane the next fetch tells. */
  private Instant moment(long now) {
    return hold.kept instanceof SessionLease.InMemory in
        ? in.cache().momentAt(now)
        : Instant.EPOCH;
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
      hold.inHand.add(delivery.sequence());
      hold.lastHandedOut = Math.max(hold.lastHandedOut, delivery.sequence());
    }
    return batch;
  }

  /** Reads what is there; whether something was found. */
  private boolean fetch(int max) {
    long askedAt = time.nanoTime();
    int most;
    Set<Long> known;
    hold.lock.lock();
    try {
      known = hold.inHand.all();
      most = Math.max(max, parts.room().messages()) + known.size();
      hold.fetched.beginRead(askedAt);
    } finally {
      hold.lock.unlock();
    }
    FetchMessages.Fetched answer;
    try {
      answer = Waits.join(parts.calls().fetches().fetch(hold.id, hold.epoch, most));
    } catch (RuntimeException e) {
      hold.suspectMore();
      throw e;
    }
    hold.lock.lock();
    try {
      if (!answer.isHeld()) {
        throw hold.lost();
      }
      hold.fetched.received();
      if (answer.messages().size() >= most || answer.mayHaveMore()) {
        hold.fetched.suspectMore();
      }
      var found =
          answer.messages().stream()
              .filter(next -> !known.contains(next.delivery().sequence()))
              .toList();
      // Fresh from now on, however long the answer was on its way: its lease counts from the
      // question.
      settling.expire(hold.fetched.take(found, answer.moment(), askedAt, time.nanoTime()));
      return !hold.fetched.isEmpty();
    } finally {
      hold.lock.unlock();
    }
  }

  /** False when the time is up. */
  private boolean awaitNews(long deadline) throws InterruptedException {
    polling.receivers().begin();
    try {
      if (polling.last().areBundlesLeft()) {
        // What is left of a pile is looked through as long as somebody waits.
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
