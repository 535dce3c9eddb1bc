package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
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
 * Sessions that this process carries in its memory, without rows, while it reads a queue alone.
 *
 * <p>I1: a session has a lane or is carried, never both: {@link ReadAlone} reads and writes down in
 * one thread, one after the other. I2: nothing is handed out when the lease of the reader may have
 * run out, and the lease of a session ends with that of the reader. I3: what lasts, or is unusual,
 * is written down, so that everybody can see it.
 */
final class CarriedSessions {
  /** Epochs that may be given out between two rounds. */
  private static final int EPOCHS = 4096;

  private final HoldParts parts;
  private final SessionCache cache;
  private final TimeSource time;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<SessionId, Carried> sessions = new HashMap<>();
  private final ArrayDeque<Carried> line = new ArrayDeque<>();
  private final Set<Carried> unusual = new LinkedHashSet<>();

  private final CarriedHolds holds = new CarriedHolds(this::isCarried);

  /** Holds of a reading that was lost, which may still be at work. */
  private final List<HeldLane> lost = new ArrayList<>();

  private int waiting;
  private long lastSequence;
  private long epochs;
  private int epochsUsed = EPOCHS;
  private long firstLane = Long.MAX_VALUE;
  private long takenAt;
  private long taken;

  /**
   * Keeps sessions.
   *
   * @param cache the reader that hands them out
   */
  CarriedSessions(HoldParts parts, SessionCache cache) {
    this.parts = parts;
    this.cache = cache;
    this.time = parts.queue().time();
  }

  /** How long nobody has taken a session, or held one. */
  long untouchedNanos() {
    return locked(() -> holds.isEmpty() ? time.nanoTime() - takenAt : 0);
  }

  /** How many holds there have been. */
  long taken() {
    return locked(() -> taken);
  }

  /** Messages that are in nobody's hands. */
  int waiting() {
    return locked(() -> waiting);
  }

  /** Messages that nobody has in hand, those of held sessions among them. */
  int inMemory() {
    return locked(() -> waiting + holds.notHandedOut());
  }

  /** Sessions that wait for an owner. */
  int ready() {
    return locked(() -> line.size());
  }

  /** Sessions that somebody holds. */
  int held() {
    return locked(() -> holds.size());
  }

  /** All sessions that are carried. */
  String[] ids() {
    return locked(() -> sessions.keySet().stream().map(SessionId::value).toArray(String[]::new));
  }

  /** Sessions that somebody holds, and how. */
  NavigableMap<SessionId, CachedHold> holds() {
    return locked(
        () -> {
          var held = new TreeMap<SessionId, CachedHold>();
          for (var session : sessions.values()) {
            var holder = session.holder;
            if (holder != null) {
              held.put(
                  session.id,
                  new CachedHold(holder.lease(), holder.snapshot().lastHandedOut() > 0));
            }
          }
          return held;
        });
  }

  boolean hasReady() {
    return locked(() -> !line.isEmpty());
  }

  /** Whether a lane is ready that has waited longer than everything here. */
  boolean isLaneNext() {
    return locked(
        () -> firstLane != Long.MAX_VALUE && (line.isEmpty() || firstLane < line.getFirst().place));
  }

  void noLanes() {
    lock.lock();
    try {
      firstLane = Long.MAX_VALUE;
    } finally {
      lock.unlock();
    }
  }

  void begin() {
    lock.lock();
    try {
      takenAt = time.nanoTime();
      firstLane = Long.MAX_VALUE;
      epochsUsed = EPOCHS;
    } finally {
      lock.unlock();
    }
  }

  /** The session that has waited longest, unless a lane has waited longer. */
  @Nullable HeldLane take(Owner owner, Reading reading) {
    lock.lock();
    try {
      long now = time.nanoTime();
      if (line.isEmpty() || epochsUsed == EPOCHS || !reading.isEnoughLeft(now) || isLaneNext()) {
        return null;
      }
      var moment = reading.momentAt(now);
      while (!line.isEmpty() && !line.getFirst().expires.isAfter(moment)) {
        markUnusual(line.getFirst());
      }
      if (line.isEmpty()) {
        return null;
      }
      var next = line.removeFirst();
      next.isInLine = false;
      var begins = reading.earliestMomentAt(now);
      var until = begins.plus(reading.left(now));
      var claimed =
          new ClaimedLane(next.id, new Lease(next.id.value(), owner, epochs + epochsUsed, until));
      epochsUsed++;
      claimed.messages.addAll(next.messages);
      waiting -= next.messages.size();
      parts.room().memory().remove(next.bytes());
      next.messages.clear();
      var held = HeldLane.cached(
              parts, claimed, new SessionLease.InMemory(cache, reading.epoch()), begins, now);
      next.holder = held;
      holds.add(held, now);
      takenAt = now;
      taken++;
      parts.owned().add(held);
      return held;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a session back from who held it.
   *
   * @param leftover what was never handed out, in order
   * @param isClean whether nothing of it is in hand; else it is written down and read again
   * @return false when it has been written down: it is given back there
   */
  boolean release(HeldLane lane, List<FoundMessage> leftover, boolean isClean) {
    while (true) {
      CompletableFuture<Void> writing;
      lock.lock();
      try {
        var session = sessions.get(lane.id());
        if (session == null || session.holder != lane) {
          return !lane.hasRow();
        }
        writing = session.writing;
        if (writing == null) {
          session.holder = null;
          if (isClean && !session.isUnusual) {
            putBack(session, leftover);
          } else {
            markUnusual(session);
          }
          holds.dropEnded();
          return true;
        }
      } finally {
        lock.unlock();
      }
      // It is being written down as held; whether that works is seen then.
      Waits.quietly(writing);
    }
  }

  private void putBack(Carried session, List<FoundMessage> leftover) {
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

  private void standInLine(Carried session) {
    if (!session.isInLine) {
      session.isInLine = true;
      line.addLast(session);
    }
  }

  /** Takes in what was read. */
  void add(ReadResult news) {
    lock.lock();
    try {
      news.messages.forEach((session, fresh) -> add(session, fresh, news.summary.moment()));
      epochs = news.summary.epochs();
      epochsUsed = 0;
      firstLane = news.summary.firstReady();
    } finally {
      lock.unlock();
    }
  }

  private void add(SessionId id, FreshMessages fresh, Instant moment) {
    var session = sessions.computeIfAbsent(id, Carried::new);
    session.expires = fresh.expires.isBefore(session.expires) ? fresh.expires : session.expires;
    for (var found : fresh.found) {
      lastSequence = Math.max(lastSequence, found.delivery().sequence());
      if (found.isExpired() || found.dueAt().isPresent()) {
        // Its lane knows how to wait, and how to set aside.
        markUnusual(session);
        found
            .dueAt()
            .ifPresent(due -> parts.polling().requests().makeDueWithin(Duration.between(moment, due)));
      }
      if (session.isUnusual || (session.holder != null && session.holder.feed(found))) {
        continue;
      }
      session.add(found);
      parts.room().memory().add(found.bytes());
      waiting++;
    }
    if (!session.isUnusual && session.holder == null && !session.messages.isEmpty()) {
      if (!session.isInLine) {
        session.place = session.head();
      }
      standInLine(session);
    }
  }

  /** These sessions, where they are carried, need a lane. */
  void markAll(Set<SessionId> asked) {
    lock.lock();
    try {
      for (var id : asked) {
        var session = sessions.get(id);
        if (session != null) {
          markUnusual(session);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Chooses so many of those that have waited longest: they get lanes, for another process. */
  List<SessionId> give(int count) {
    lock.lock();
    try {
      var chosen = line.stream().limit(count).toList();
      chosen.forEach(this::markUnusual);
      return chosen.stream().map(session -> session.id).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Those of them that nobody has, and that have a message which is too old, need a lane. */
  void markExpired(Instant moment) {
    lock.lock();
    try {
      var old = line.stream().filter(session -> !session.expires.isAfter(moment)).toList();
      old.forEach(this::markUnusual);
    } finally {
      lock.unlock();
    }
  }

  private void markUnusual(Carried session) {
    session.isUnusual = true;
    session.isToBePlaced = true;
    unusual.add(session);
    if (session.isInLine) {
      session.isInLine = false;
      line.remove(session);
    }
  }

  private boolean isCarried(HeldLane lane) {
    var session = sessions.get(lane.id());
    return session != null && session.holder == lane;
  }

  /**
   * Sessions that must be written down, or all; from now on nobody can take these.
   *
   * @param heldBefore a hold in which nothing has moved since then needs a lane
   */
  List<Carried> toWrite(boolean all, long heldBefore) {
    lock.lock();
    try {
      if (all) {
        line.forEach(session -> session.isInLine = false);
        line.clear();
        sessions.values().forEach(session -> session.isUnusual = true);
        unusual.addAll(sessions.values());
      }
      markQuiet(heldBefore);
      var chosen = List.copyOf(unusual);
      unusual.clear();
      chosen.forEach(Carried::beginWriting);
      return chosen;
    } finally {
      lock.unlock();
    }
  }

  private void markQuiet(long heldBefore) {
    for (var lane : holds.takeQuiet(heldBefore)) {
      var session = sessions.get(lane.id());
      if (session != null) {
        markUnusual(session);
      }
    }
  }

  /** They have their lanes, with leases that end then. */
  void written(List<Carried> chosen, Map<SessionId, Instant> leaseEnds) {
    lock.lock();
    try {
      for (var session : chosen) {
        sessions.remove(session.id);
        waiting -= session.messages.size();
        parts.room().memory().remove(session.bytes());
        if (session.holder != null) {
          session.holder.written(leaseEnds.get(session.id));
        }
      }
    } finally {
      lock.unlock();
    }
    chosen.forEach(Carried::endWriting);
  }

  /** They could not be written down; it is tried again. */
  void notWritten(List<Carried> chosen) {
    lock.lock();
    try {
      unusual.addAll(chosen);
    } finally {
      lock.unlock();
    }
    chosen.forEach(Carried::endWriting);
  }

  /** Returns when the session is not being written down any more. */
  void awaitWriting(SessionId id) {
    var writing =
        locked(
            () -> {
              var session = sessions.get(id);
              return Optional.ofNullable(session == null ? null : session.writing);
            });
    writing.ifPresent(Waits::quietly);
  }

  /** Marks the session of this hold, if it is carried still. */
  boolean mark(HeldLane lane) {
    lock.lock();
    try {
      var session = sessions.get(lane.id());
      if (session == null || session.holder != lane) {
        return false;
      }
      markUnusual(session);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether anything must be written down. */
  boolean hasToWrite(long heldBefore) {
    return locked(() -> !unusual.isEmpty() || holds.hasQuiet(heldBefore));
  }

  /** Returns whether a hold of a lost reading has neither been given back nor run out. */
  boolean areLostHeld() {
    return locked(
        () -> {
          long now = time.nanoTime();
          lost.removeIf(lane -> lane.isOver(now));
          return !lost.isEmpty();
        });
  }

  /** Somebody else reads now: what is held here is lost, and the rest belongs to others. */
  void lose() {
    lock.lock();
    try {
      for (var session : sessions.values()) {
        if (session.holder != null) {
          lost.add(session.holder);
          session.holder.superseded();
        }
        parts.room().memory().remove(session.bytes());
        session.endWriting();
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
   * From how long on a hold in which nothing moves has a lane, so that it can be seen, extended,
   * and run out.
   */
  static Duration longHold(Duration lease, Duration most) {
    var quarter = lease.dividedBy(4);
    return quarter.compareTo(most) < 0 ? quarter : most;
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
