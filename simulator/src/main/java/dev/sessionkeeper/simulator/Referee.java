package dev.sessionkeeper.simulator;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.testkit.Violation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Checks the invariants during a run, from what took effect in the store and from what handlers
 * saw. It keeps records of its own and never reads the store's tables.
 */
final class Referee {
  private final List<Violation> violations = new ArrayList<>();
  private final Set<MessageId> acknowledged = new HashSet<>();

  /** Messages that the store had and lost; their acknowledgements may still be on the way. */
  private final Set<MessageId> lost = new HashSet<>();

  private final Map<SessionId, Instant> takenAt = new HashMap<>();
  private Map<SessionId, Book> books = new TreeMap<>((a, b) -> a.value().compareTo(b.value()));
  private final Map<SessionId, Grant> grants = new HashMap<>();
  private final Map<SessionId, Long> highestEpoch = new HashMap<>();
  private final Map<Long, Instant> leases = new HashMap<>();
  private int handled;
  private int ended;

  private static final class Book {
    final TreeMap<Long, MessageId> open = new TreeMap<>();
    final Map<MessageId, Settlement> ended = new HashMap<>();
    final List<Long> completed = new ArrayList<>();
    final Set<Long> seen = new HashSet<>();

    /** Messages that a handler has ended for good, each with the epoch. */
    final Set<Handled> finished = new HashSet<>();

    boolean isParked;

    Book copy() {
      var copy = new Book();
      copy.open.putAll(open);
      copy.ended.putAll(ended);
      copy.completed.addAll(completed);
      copy.seen.addAll(seen);
      copy.finished.addAll(finished);
      copy.isParked = isParked;
      return copy;
    }
  }

  private record Handled(long epoch, long sequence) {}

  private record Grant(long epoch, String owner, Instant until, boolean isReleased) {}

  /** A copy of the records, for a store that is set back to it. */
  record Copy(Map<SessionId, Book> books) {}

  boolean isContent() {
    return violations.isEmpty();
  }

  List<Violation> violations() {
    return List.copyOf(violations);
  }

  int handled() {
    return handled;
  }

  int ended() {
    return ended;
  }

  void broken(String invariant, String what) {
    violations.add(new Violation(invariant, what));
  }

  private Book book(SessionId session) {
    return books.computeIfAbsent(session, id -> new Book());
  }

  // Reports of the store.

  void stored(SessionId session, MessageId id, long sequence) {
    if (book(session).open.containsValue(id) || book(session).ended.containsKey(id)) {
      broken("I4", "message " + id + " of session " + session + " was stored twice");
    }
    book(session).open.put(sequence, id);
    lost.remove(id);
  }

  void granted(SessionId session, long epoch, String owner, Instant until, Instant now) {
    var before = grants.get(session);
    if (before != null && !before.isReleased && before.until.isAfter(now)) {
      broken(
          "I2",
          "session %s was given to %s while the lease of %s, epoch %d, runs for another %s"
              .formatted(
                  session, owner, before.owner, before.epoch, Duration.between(now, before.until)));
    }
    if (epoch <= highestEpoch.getOrDefault(session, 0L)) {
      broken("I2", "epoch " + epoch + " of session " + session + " was given out again");
    }
    highestEpoch.merge(session, epoch, Math::max);
    takenAt.put(session, now);
    grants.put(session, new Grant(epoch, owner, until, false));
    leases.put(epoch, until);
  }

  void renewed(SessionId session, long epoch, Instant until) {
    var grant = grants.get(session);
    if (grant == null || grant.epoch != epoch || grant.isReleased) {
      broken(
          "I2", "session %s was renewed under epoch %d, which is over".formatted(session, epoch));
    } else {
      grants.put(session, new Grant(epoch, grant.owner, until, false));
      leases.put(epoch, until);
    }
  }

  void released(SessionId session, long epoch) {
    var grant = grants.get(session);
    if (grant != null && grant.epoch == epoch) {
      grants.put(session, new Grant(epoch, grant.owner, grant.until, true));
    }
  }

  /** Checks a close by a node other than the owner. */
  void closedBy(SessionId session, long epochOfCaller) {
    var grant = grants.get(session);
    if (grant != null && grant.isReleased && grant.epoch > epochOfCaller) {
      broken(
          "I2",
          "epoch %d gave the lease of epoch %d on session %s back"
              .formatted(epochOfCaller, grant.epoch, session));
    }
  }

  boolean isReleased(SessionId session) {
    var grant = grants.get(session);
    return grant == null || grant.isReleased;
  }

  /** Records that a settlement takes effect. */
  void settling(SessionId session, long epoch, long sequence, Instant now) {
    var grant = grants.get(session);
    if (grant == null || grant.epoch != epoch || grant.isReleased || !grant.until.isAfter(now)) {
      broken(
          "I2",
          "message %d of session %s was settled under epoch %d, which is over"
              .formatted(sequence, session, epoch));
    }
  }

  void ended(SessionId session, long epoch, long sequence, Settlement settlement, Instant now) {
    var book = book(session);
    var earlier = book.open.lowerKey(sequence);
    var id = book.open.remove(sequence);
    if (id == null) {
      broken("I4", "message %d of session %s ended twice".formatted(sequence, session));
      return;
    }
    if (earlier != null) {
      broken(
          "I1",
          "message %d of session %s ended under epoch %d at %s while %d is open"
              .formatted(sequence, session, epoch, now, earlier));
    }
    if (!book.seen.contains(sequence)) {
      broken("I8", "message %d of session %s ended unseen".formatted(sequence, session));
    }
    ended++;
    book.ended.put(id, settlement);
    if (settlement instanceof Settlement.Complete) {
      book.completed.add(sequence);
    }
  }

  void parked(SessionId session) {
    book(session).isParked = true;
  }

  // Reports of clients.

  void acknowledged(MessageId id) {
    if (!lost.contains(id)) {
      acknowledged.add(id);
    }
  }

  /**
   * Records that a handler begins.
   *
   * @param now by the clock of the store
   * @param tolerance how long after its end a node may still believe in its lease
   */
  void started(
      String node,
      SessionId session,
      long epoch,
      Delivery delivery,
      Instant now,
      Duration tolerance) {
    handled++;
    var book = book(session);
    book.seen.add(delivery.sequence());
    var until = leases.get(epoch);
    if (until != null && until.plus(tolerance).isBefore(now)) {
      broken(
          "I2",
          "%s handles message %d of session %s under epoch %d, which ended %s before"
              .formatted(node, delivery.sequence(), session, epoch, Duration.between(until, now)));
    }
    if (!isHeld(session, epoch, now)) {
      return;
    }
    var first = book.open.isEmpty() ? null : book.open.firstKey();
    if (!book.open.containsKey(delivery.sequence())) {
      broken(
          "I4",
          "%s handles message %d of session %s, which has ended"
              .formatted(node, delivery.sequence(), session));
    } else if (first != null
        && first < delivery.sequence()
        && !isPipelined(book, epoch, delivery)) {
      broken(
          "I1",
          "%s handles message %d of session %s while %d is open"
              .formatted(node, delivery.sequence(), session, first));
    }
  }

  /**
   * Returns whether only settlements of earlier messages may be in flight: no earlier message may
   * be unhandled.
   */
  private static boolean isPipelined(Book book, long epoch, Delivery delivery) {
    return book.open.headMap(delivery.sequence()).keySet().stream()
        .allMatch(earlier -> book.finished.contains(new Handled(epoch, earlier)));
  }

  /** Records that a handler ended a message, as its node sees it. */
  void finished(SessionId session, long epoch, long sequence, boolean isFinal) {
    if (isFinal) {
      book(session).finished.add(new Handled(epoch, sequence));
    }
  }

  /** Records that a node learned that it lost its lease. */
  void toldLost(String node, SessionId session, long epoch, Instant now) {
    if (isHeld(session, epoch, now)) {
      broken(
          "I13",
          "%s was told that it lost session %s, whose lease runs until %s"
              .formatted(node, session, leases.get(epoch)));
    }
  }

  private boolean isHeld(SessionId session, long epoch, Instant now) {
    var grant = grants.get(session);
    return grant != null && grant.epoch == epoch && !grant.isReleased && grant.until.isAfter(now);
  }

  /** Returns the sessions with an open message and no valid lease, by the records. */
  Set<SessionId> waiting(Instant now) {
    var waiting = new java.util.LinkedHashSet<SessionId>();
    books.forEach(
        (id, book) -> {
          var grant = grants.get(id);
          boolean isHeld = grant != null && !grant.isReleased && grant.until.isAfter(now);
          if (!book.open.isEmpty() && !book.isParked && !isHeld) {
            waiting.add(id);
          }
        });
    return waiting;
  }

  /** Returns when the session was last given to an owner. */
  Instant takenAt(SessionId session) {
    return takenAt.getOrDefault(session, Instant.MIN);
  }

  // The end of a run.

  boolean isAllEnded() {
    return books.values().stream().allMatch(book -> book.open.isEmpty() || book.isParked);
  }

  @Nullable String firstOpen() {
    for (var entry : books.entrySet()) {
      if (!entry.getValue().open.isEmpty() && !entry.getValue().isParked) {
        return "session %s has %d messages that no consumer gets, the first is %d"
            .formatted(
                entry.getKey(), entry.getValue().open.size(), entry.getValue().open.firstKey());
      }
    }
    return null;
  }

  /** Checks I3, I4 and I8 against the tables at the end. */
  void checkEnd(Set<MessageId> dead, Map<SessionId, List<Long>> effects) {
    var there = new HashSet<MessageId>();
    for (var entry : books.entrySet()) {
      var book = entry.getValue();
      there.addAll(book.open.values());
      book.ended.forEach(
          (id, settlement) -> {
            there.add(id);
            if (settlement instanceof Settlement.DeadLetter && !dead.contains(id)) {
              broken("I8", "message " + id + " became a dead letter and is nowhere");
            }
          });
      var effect = effects.get(entry.getKey());
      if (effect != null && !effect.equals(book.completed)) {
        broken(
            "I4",
            "the effects of session %s are %s, its completed messages %s"
                .formatted(entry.getKey(), effect, book.completed));
      }
    }
    for (var id : acknowledged) {
      if (!there.contains(id)) {
        broken("I3", "message " + id + " was acknowledged and is nowhere");
      }
    }
  }

  Copy copy() {
    var copies = new TreeMap<SessionId, Book>((a, b) -> a.value().compareTo(b.value()));
    books.forEach((id, book) -> copies.put(id, book.copy()));
    return new Copy(copies);
  }

  /** Forgets what came after the copy: the store lost it and says so, which is no violation. */
  void forgetSince(Copy copy) {
    books.values().forEach(book -> lost.addAll(book.open.values()));
    books.values().forEach(book -> lost.addAll(book.ended.keySet()));
    books = new TreeMap<>((a, b) -> a.value().compareTo(b.value()));
    copy.books.forEach((id, book) -> books.put(id, book.copy()));
    var there = new HashSet<MessageId>();
    books.values().forEach(book -> there.addAll(book.open.values()));
    books.values().forEach(book -> there.addAll(book.ended.keySet()));
    lost.removeAll(there);
    acknowledged.retainAll(there);
    leases.clear();
    grants.replaceAll((id, grant) -> new Grant(grant.epoch, grant.owner, grant.until, true));
  }
}
