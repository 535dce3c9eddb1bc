package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.lease.Hold;
import dev.sessionkeeper.postgres.lease.HoldParts;
import dev.sessionkeeper.postgres.lease.OwnedSession;
import dev.sessionkeeper.postgres.lease.OwnedSessions;
import dev.sessionkeeper.postgres.lease.SessionCache;
import dev.sessionkeeper.postgres.lease.SessionLease;
import dev.sessionkeeper.postgres.row.ClaimedSession;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sessions without rows that this process keeps in memory while it reads its buckets.
 *
 * <p>I1: a session has a row or is in memory, never both: {@link ReadBuckets} reads and persists in
 * one thread, one after the other. I2: nothing is handed out when the lease of the reader may have
 * ended, and the lease of a session ends with that of the reader. I3: a session that is held for
 * long or is exceptional is persisted, so that every process can see it.
 */
public final class CachedSessions {
  /** The most epochs that a reader may assign between two polls. */
  private static final int EPOCHS = 4096;

  private static final Duration FARTHEST = Duration.ofDays(1);

  private final HoldParts parts;
  private final OwnedSessions owned;
  private final SessionCache cache;
  private final TimeSource time;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<SessionId, CachedSession> sessions = new HashMap<>();
  private final ArrayDeque<CachedSession> line = new ArrayDeque<>();
  private final Set<CachedSession> unusual = new LinkedHashSet<>();

  private final WatchedHolds holds = new WatchedHolds(this::isCached);

  /** Holds from a lost reader lease; their handlers may still run. */
  private final List<Hold> lost = new ArrayList<>();

  /** Messages that were retried before this process began to read. */
  private Map<SessionId, FailedHead> failedBefore = Map.of();

  private int waiting;
  private long lastSequence;
  private long epochs;
  private int epochsUsed = EPOCHS;
  private long firstRow = Long.MAX_VALUE;
  private long takenAt;
  private long taken;

  /**
   * Keeps the cached sessions.
   *
   * @param cache the reader that hands them out
   */
  CachedSessions(HoldParts parts, OwnedSessions owned, SessionCache cache) {
    this.parts = parts;
    this.owned = owned;
    this.cache = cache;
    this.time = parts.queue().time();
  }

  /** Returns for how long no consumer has taken a session, or held one. */
  long untouchedNanos() {
    return locked(() -> holds.isEmpty() ? time.nanoTime() - takenAt : 0);
  }

  /** Returns how many sessions were accepted so far. */
  long taken() {
    return locked(() -> taken);
  }

  /** Returns the number of messages of sessions without an owner. */
  int waiting() {
    return locked(() -> waiting);
  }

  /** Returns the number of messages that were not handed out, those of held sessions among them. */
  int inMemory() {
    return locked(() -> waiting + holds.notHandedOut());
  }

  /** Returns the number of sessions that wait for an owner. */
  int ready() {
    return locked(() -> line.size());
  }

  /** Returns the number of held sessions. */
  int held() {
    return locked(() -> holds.size());
  }

  /** Returns all sessions in memory. */
  String[] ids() {
    return locked(() -> sessions.keySet().stream().map(SessionId::value).toArray(String[]::new));
  }

  /** Returns the held sessions, and how they are held. */
  NavigableMap<SessionId, CachedHold> holds() {
    return locked(
        () -> {
          var held = new TreeMap<SessionId, CachedHold>();
          for (var session : sessions.values()) {
            var holder = session.holder;
            if (holder != null) {
              held.put(
                  session.id,
                  new CachedHold(
                      holder.lease(), holder.snapshot(time.nanoTime()).lastHandedOut() > 0));
            }
          }
          return held;
        });
  }

  boolean hasReady() {
    return locked(() -> !line.isEmpty());
  }

  /**
   * Returns whether a session with a row is ready that has waited longer than all sessions here.
   */
  boolean isRowNext() {
    return locked(
        () -> firstRow != Long.MAX_VALUE && (line.isEmpty() || firstRow < line.getFirst().place));
  }

  void noRows() {
    lock.lock();
    try {
      firstRow = Long.MAX_VALUE;
    } finally {
      lock.unlock();
    }
  }

  /** Begins a reading. */
  void begin() {
    begin(Map.of());
  }

  /**
   * Begins a reading.
   *
   * @param failed messages that others have retried
   */
  void begin(Map<SessionId, FailedHead> failed) {
    lock.lock();
    try {
      failedBefore = failed;
      takenAt = time.nanoTime();
      firstRow = Long.MAX_VALUE;
      epochsUsed = EPOCHS;
    } finally {
      lock.unlock();
    }
  }

  /** Takes the session that has waited longest, unless a session with a row has waited longer. */
  @Nullable OwnedSession take(Owner owner, ReaderLease reading) {
    lock.lock();
    try {
      long now = time.nanoTime();
      if (line.isEmpty() || epochsUsed == EPOCHS || !reading.isEnoughLeft(now) || isRowNext()) {
        return null;
      }
      var moment = reading.momentAt(now);
      while (!line.isEmpty() && !line.getFirst().expires.isAfter(moment)) {
        markForRow(line.getFirst());
      }
      if (line.isEmpty()) {
        return null;
      }
      var next = line.removeFirst();
      next.isInLine = false;
      var begins = reading.earliestMomentAt(now);
      var until = begins.plus(reading.left(now));
      var claimed =
          new ClaimedSession(
              next.id, new Lease(next.id.value(), owner, epochs + epochsUsed, until));
      epochsUsed++;
      claimed.messages.addAll(next.messages);
      waiting -= next.messages.size();
      parts.room().memory().remove(next.bytes());
      next.messages.clear();
      var held =
          OwnedSession.cached(
              parts,
              owned,
              claimed,
              new SessionLease.InMemory(cache, reading.epoch()),
              begins,
              now);
      next.holder = held.hold();
      holds.add(held.hold(), now);
      takenAt = now;
      taken++;
      owned.add(held);
      return held;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a session back from its owner.
   *
   * @param leftover the messages that were never handed out, in order
   * @param isClean whether no delivery is open; otherwise the session is persisted and read again
   * @return false if the session was persisted, so that it must be given back there
   */
  boolean release(Hold hold, List<FoundMessage> leftover, boolean isClean) {
    while (true) {
      CompletableFuture<Void> writing;
      lock.lock();
      try {
        var session = sessions.get(hold.id());
        if (session == null || session.holder != hold) {
          return hold.isInMemory();
        }
        writing = session.writing;
        if (writing == null) {
          session.holder = null;
          if (isClean && !session.needsRow) {
            putBack(session, leftover);
          } else {
            markForRow(session);
          }
          holds.dropEnded();
          return true;
        }
      } finally {
        lock.unlock();
      }
      // The session is being persisted as held; the next turn sees whether that worked.
      Futures.quietly(writing);
    }
  }

  private void putBack(CachedSession session, List<FoundMessage> leftover) {
    for (int i = leftover.size() - 1; i >= 0; i--) {
      session.messages.addFirst(leftover.get(i));
    }
    waiting += leftover.size();
    leftover.forEach(found -> parts.room().memory().add(found.bytes()));
    if (session.messages.isEmpty()) {
      sessions.remove(session.id);
    } else {
      session.place = lastSequence;
      standInLine(session);
    }
  }

  private void standInLine(CachedSession session) {
    if (!session.isInLine) {
      session.isInLine = true;
      line.addLast(session);
    }
  }

  /** Adds the sessions and messages of a read. */
  void add(ReadResult news) {
    lock.lock();
    try {
      news.messages.forEach((session, fresh) -> add(session, fresh, news.summary.moment()));
      epochs = news.summary.epochs();
      epochsUsed = 0;
      firstRow = news.summary.firstReady();
    } finally {
      lock.unlock();
    }
  }

  private void add(SessionId id, FreshMessages fresh, Instant moment) {
    var session = sessions.computeIfAbsent(id, CachedSession::new);
    session.expires = fresh.expires.isBefore(session.expires) ? fresh.expires : session.expires;
    var failed = failedBefore.get(id);
    for (var read : fresh.found) {
      var found = failed == null ? read : failed.applyTo(read);
      lastSequence = Math.max(lastSequence, found.delivery().sequence());
      if (found.isExpired() || found.dueAt().isPresent()) {
        // Only a row can wait for a time, or be dead-lettered.
        markForRow(session);
        found.dueAt().ifPresent(due -> session.addDue(time.nanoTime() + nanosBetween(moment, due)));
      }
      if (session.needsRow || (session.holder != null && session.holder.feed(found))) {
        continue;
      }
      session.add(found);
      parts.room().memory().add(found.bytes());
      waiting++;
    }
    if (!session.needsRow && session.holder == null && !session.messages.isEmpty()) {
      if (!session.isInLine) {
        session.place = session.head();
      }
      standInLine(session);
    }
  }

  /** Marks sessions that need a row, if they are in memory. */
  void markAll(Set<SessionId> asked) {
    lock.lock();
    try {
      for (var id : asked) {
        var session = sessions.get(id);
        if (session != null) {
          markForRow(session);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Chooses that many of the sessions that have waited longest, to persist them for another
   * process.
   */
  List<SessionId> give(int count) {
    lock.lock();
    try {
      var chosen = line.stream().limit(count).toList();
      chosen.forEach(this::markForRow);
      return chosen.stream().map(session -> session.id).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Marks sessions without an owner that have an expired message: they need a row. */
  void markExpired(Instant moment) {
    lock.lock();
    try {
      var old = line.stream().filter(session -> !session.expires.isAfter(moment)).toList();
      old.forEach(this::markForRow);
    } finally {
      lock.unlock();
    }
  }

  private void markForRow(CachedSession session) {
    session.needsRow = true;
    session.mustCheckRow = true;
    unusual.add(session);
    if (session.isInLine) {
      session.isInLine = false;
      line.remove(session);
    }
  }

  private boolean isCached(Hold hold) {
    var session = sessions.get(hold.id());
    return session != null && session.holder == hold;
  }

  /**
   * Returns the sessions that must be persisted, or all; no consumer can take them from now on.
   *
   * @param heldBefore a hold that has not moved since then needs a row
   */
  List<CachedSession> toPersist(boolean all, long heldBefore) {
    lock.lock();
    try {
      if (all) {
        line.forEach(session -> session.isInLine = false);
        line.clear();
        sessions.values().forEach(session -> session.needsRow = true);
        unusual.addAll(sessions.values());
      }
      markQuiet(heldBefore);
      var chosen = List.copyOf(unusual);
      unusual.clear();
      chosen.forEach(CachedSession::beginPersisting);
      return chosen;
    } finally {
      lock.unlock();
    }
  }

  private void markQuiet(long heldBefore) {
    for (var hold : holds.takeQuiet(heldBefore)) {
      var session = sessions.get(hold.id());
      if (session != null) {
        markForRow(session);
      }
    }
  }

  /** Removes sessions that have rows now, with leases that end at these times. */
  void written(List<CachedSession> chosen, Map<SessionId, Instant> leaseEnds) {
    lock.lock();
    try {
      for (var session : chosen) {
        sessions.remove(session.id);
        waiting -= session.messages.size();
        parts.room().memory().remove(session.bytes());
        if (session.holder != null) {
          session.holder.persisted(leaseEnds.get(session.id));
        }
      }
    } finally {
      lock.unlock();
    }
    chosen.forEach(CachedSession::endPersisting);
    // Not earlier: the statement that makes rows due forgets the timers of what has no row yet.
    chosen.forEach(
        session ->
            session
                .dueWithin(time.nanoTime())
                .ifPresent(parts.polling().requests()::makeDueWithin));
  }

  /** Marks sessions again that could not be persisted. */
  void notPersisted(List<CachedSession> chosen) {
    lock.lock();
    try {
      unusual.addAll(chosen);
    } finally {
      lock.unlock();
    }
    chosen.forEach(CachedSession::endPersisting);
  }

  /** Returns when the session is not being persisted any more. */
  void awaitPersisting(SessionId id) {
    var writing =
        locked(
            () -> {
              var session = sessions.get(id);
              return Optional.ofNullable(session == null ? null : session.writing);
            });
    writing.ifPresent(Futures::quietly);
  }

  /** Marks the session of this hold, if it is still in memory. */
  boolean mark(Hold hold) {
    lock.lock();
    try {
      var session = sessions.get(hold.id());
      if (session == null || session.holder != hold) {
        return false;
      }
      markForRow(session);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether a session must be persisted. */
  boolean hasToPersist(long heldBefore) {
    return locked(() -> !unusual.isEmpty() || holds.hasQuiet(heldBefore));
  }

  /** Returns whether a hold from before the loss of the queue has neither ended nor expired. */
  boolean areLostHeld() {
    return locked(
        () -> {
          long now = time.nanoTime();
          lost.removeIf(hold -> hold.isOver(now));
          return !lost.isEmpty();
        });
  }

  /** Forgets all sessions, because another process reads now. Holds of this process are lost. */
  void lose() {
    lock.lock();
    try {
      for (var session : sessions.values()) {
        if (session.holder != null) {
          lost.add(session.holder);
          session.holder.superseded();
        }
        parts.room().memory().remove(session.bytes());
        session.endPersisting();
      }
      sessions.clear();
      line.clear();
      unusual.clear();
      holds.clear();
      waiting = 0;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns how long a hold may be idle before it is persisted, so that other processes can see it
   * and extend it, and it can expire.
   */
  static Duration longHold(Duration lease, Duration most) {
    var quarter = lease.dividedBy(4);
    return quarter.compareTo(most) < 0 ? quarter : most;
  }

  /**
   * Returns the nanoseconds between two times, at most an amount that a long holds; regular checks
   * handle times beyond that.
   */
  private static long nanosBetween(Instant from, Instant to) {
    var between = Duration.between(from, to);
    return between.compareTo(FARTHEST) < 0 ? between.toNanos() : FARTHEST.toNanos();
  }

  private <T> T locked(Supplier<T> question) {
    lock.lock();
    try {
      return question.get();
    } finally {
      lock.unlock();
    }
  }
}
