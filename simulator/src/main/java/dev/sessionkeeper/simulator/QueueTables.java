package dev.sessionkeeper.simulator;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The modelled store: rows of messages and sessions, and the statements that change them. Each
 * method is one statement, and takes effect at once.
 *
 * <p>The contract is docs/reference/contract.md; the model covers order, leases, retries, dead
 * letters and states.
 */
final class QueueTables {
  private static final long FIRST_EPOCH_AFTER_PROMOTION = 1_000_000;

  private final Set<Bug> bugs;
  private final Referee referee;
  private final Duration lock;
  private final int maxDeliveries;
  private Map<SessionId, SessionEntry> entries = new LinkedHashMap<>();
  private Map<MessageId, Long> known = new HashMap<>();
  private final Map<String, Long> contents = new HashMap<>();
  private List<Row> dead = new ArrayList<>();
  private long lastSequence;
  private long lastEpoch;
  private int promotions;

  QueueTables(Set<Bug> bugs, Referee referee, Duration lock, int maxDeliveries) {
    this.bugs = bugs;
    this.referee = referee;
    this.lock = lock;
    this.maxDeliveries = maxDeliveries;
  }

  /** A copy of all tables, as a standby has it. */
  record Copy(
      Map<SessionId, SessionEntry> entries,
      Map<MessageId, Long> known,
      List<Row> dead,
      long lastSequence,
      long lastEpoch) {}

  /** The result of an accept. */
  record Granted(SessionId session, long epoch, Instant until) {}

  private static final class Row {
    final Message message;
    final long sequence;
    final Instant at;
    int attempts;
    Instant due;

    Row(Message message, long sequence, Instant at) {
      this.message = message;
      this.sequence = sequence;
      this.at = at;
      this.due = at;
    }

    Row copy() {
      var copy = new Row(message, sequence, at);
      copy.attempts = attempts;
      copy.due = due;
      return copy;
    }

    Delivery delivery() {
      return new Delivery(message, sequence, attempts, at);
    }
  }

  private static final class SessionEntry {
    final SessionId id;
    List<Row> rows = new ArrayList<>();
    int handed;
    long epoch;
    String owner = "";
    Instant until = Instant.MIN;
    boolean isLeased;
    boolean isParked;
    boolean isForgotten;
    Instant waitsSince = Instant.MAX;
    SessionState state = SessionState.none();

    SessionEntry(SessionId id) {
      this.id = id;
    }

    SessionEntry copy() {
      var copy = new SessionEntry(id);
      rows.forEach(row -> copy.rows.add(row.copy()));
      copy.handed = handed;
      copy.epoch = epoch;
      copy.owner = owner;
      copy.until = until;
      copy.isLeased = isLeased;
      copy.isParked = isParked;
      copy.waitsSince = waitsSince;
      copy.state = state;
      return copy;
    }

    boolean hasWork(Instant now) {
      return handed < rows.size() && !rows.get(handed).due.isAfter(now);
    }
  }

  // Statements of senders.

  List<SendOutcome> send(List<Message> messages, Instant now) {
    var outcomes = new ArrayList<SendOutcome>();
    for (var message : messages) {
      var before = known.get(message.id());
      if (before != null && !bugs.contains(Bug.DUPLICATE_STORED)) {
        outcomes.add(new SendOutcome.Duplicate(message.id(), before));
        continue;
      }
      var equal = bugs.contains(Bug.EQUAL_CONTENT_DROPPED) ? equalBefore(message) : null;
      if (equal != null) {
        outcomes.add(new SendOutcome.Duplicate(message.id(), equal));
        continue;
      }
      long sequence = ++lastSequence;
      known.put(message.id(), sequence);
      var entry = entries.computeIfAbsent(message.session().orElseThrow(), SessionEntry::new);
      if (bugs.contains(Bug.SESSION_FORGOTTEN) && entry.isLeased && entry.rows.size() == 1) {
        entry.isForgotten = true;
      }
      entry.rows.add(new Row(message, sequence, now));
      if (entry.waitsSince.equals(Instant.MAX)) {
        entry.waitsSince = now;
      }
      referee.stored(entry.id, message.id(), sequence);
      outcomes.add(new SendOutcome.Stored(message.id(), sequence));
    }
    return outcomes;
  }

  private @Nullable Long equalBefore(Message message) {
    var content = message.session() + " " + message.properties();
    return contents.putIfAbsent(content, lastSequence + 1);
  }

  // Statements of consumers.

  Optional<Granted> accept(String owner, Instant now) {
    SessionEntry longest = null;
    for (var entry : entries.values()) {
      expire(entry, now);
      boolean isFree =
          !entry.isLeased || (bugs.contains(Bug.LEASE_ENDS_EARLY) && isNearEnd(entry, now));
      if (isFree && !entry.isParked && !entry.isForgotten && isReady(entry, now)) {
        longest = longest == null || isBefore(entry, longest) ? entry : longest;
      }
    }
    if (longest == null) {
      return Optional.empty();
    }
    longest.handed = 0;
    longest.epoch = ++lastEpoch;
    longest.owner = owner;
    longest.isLeased = true;
    longest.until = now.plus(lock);
    referee.granted(longest.id, longest.epoch, owner, longest.until, now);
    return Optional.of(new Granted(longest.id, longest.epoch, longest.until));
  }

  private boolean isBefore(SessionEntry entry, SessionEntry other) {
    return bugs.contains(Bug.NEWEST_SESSION_FIRST)
        ? entry.waitsSince.isAfter(other.waitsSince)
        : entry.waitsSince.isBefore(other.waitsSince);
  }

  private boolean isNearEnd(SessionEntry entry, Instant now) {
    return entry.until.minus(lock.dividedBy(3)).isBefore(now);
  }

  private static boolean isReady(SessionEntry entry, Instant now) {
    return !entry.rows.isEmpty() && !entry.rows.get(0).due.isAfter(now);
  }

  boolean hasReady(Instant now) {
    return entries.values().stream()
        .anyMatch(
            entry ->
                (!entry.isLeased || !entry.until.isAfter(now))
                    && !entry.isParked
                    && isReady(entry, now));
  }

  /** Ends an expired lease. Its open messages are delivered again. */
  private void expire(SessionEntry entry, Instant now) {
    if (!entry.isLeased
        || entry.until.isAfter(now)
        || bugs.contains(Bug.LEASE_OF_DEAD_OWNER_STAYS)) {
      return;
    }
    // Only the attempt of the head is used: no handler had begun with what is behind it.
    for (int i = 1; i < entry.handed; i++) {
      entry.rows.get(i).attempts--;
    }
    if (bugs.contains(Bug.EXPIRED_TO_TAIL) && entry.handed > 0) {
      var open = List.copyOf(entry.rows.subList(0, entry.handed));
      entry.rows.subList(0, entry.handed).clear();
      entry.rows.addAll(open);
    }
    if (bugs.contains(Bug.ATTEMPT_NOBODY_USED)) {
      entry.rows.forEach(row -> row.attempts++);
      while (!entry.rows.isEmpty() && entry.rows.get(0).attempts >= maxDeliveries) {
        var row = entry.rows.remove(0);
        dead.add(row);
        referee.ended(entry.id, entry.epoch, row.sequence, Settlement.deadLetter("used up"), now);
      }
    }
    free(entry, now);
  }

  private void free(SessionEntry entry, Instant now) {
    entry.isLeased = false;
    entry.handed = 0;
    entry.waitsSince = entry.rows.isEmpty() ? Instant.MAX : now;
    referee.released(entry.id, entry.epoch);
  }

  List<Delivery> receive(SessionId session, long epoch, int most, Instant now) {
    var entry = held(session, epoch, now);
    var batch = new ArrayList<Delivery>();
    while (batch.size() < most && entry.hasWork(now)) {
      var row = entry.rows.get(entry.handed++);
      row.attempts++;
      batch.add(row.delivery());
    }
    return batch;
  }

  void settle(
      SessionId session,
      long epoch,
      List<Settled> settlements,
      Optional<SessionState.Write> write,
      Instant now) {
    var entry =
        bugs.contains(Bug.STALE_SETTLEMENT_COUNTS)
            ? entry(session)
            : bugs.contains(Bug.LATE_SETTLEMENT_COUNTS)
                ? heldOrLate(session, epoch)
                : held(session, epoch, now);
    requireInOrder(entry, settlements);
    if (write.isPresent()) {
      write(entry, write.get());
    }
    for (var settled : settlements) {
      apply(entry, epoch, settled, now);
    }
  }

  private void requireInOrder(SessionEntry entry, List<Settled> settlements) {
    if (bugs.contains(Bug.BATCH_GOES_ON_AFTER_RETRY)
        || bugs.contains(Bug.STALE_SETTLEMENT_COUNTS)) {
      return;
    }
    for (int i = 0; i < settlements.size(); i++) {
      if (i >= entry.handed || entry.rows.get(i).sequence != settlements.get(i).sequence()) {
        throw new KeeperException.OutOfOrder(
            entry.id, settlements.get(i).sequence(), "it is not the first open delivery");
      }
    }
  }

  private static void write(SessionEntry entry, SessionState.Write write) {
    if (write.expectedVersion() != SessionState.ANY_VERSION
        && write.expectedVersion() != entry.state.version()) {
      throw new KeeperException.StaleState(
          entry.id, write.expectedVersion(), entry.state.version());
    }
    entry.state = new SessionState(write.bytes(), entry.state.version() + 1);
  }

  private void apply(SessionEntry entry, long epoch, Settled settled, Instant now) {
    int place = placeOf(entry, settled.sequence());
    if (place < 0) {
      return; // Happens only with a planted bug that breaks the order.
    }
    var row = entry.rows.get(place);
    referee.settling(entry.id, epoch, settled.sequence(), now);
    switch (settled.settlement()) {
      case Settlement.Complete complete -> {
        remove(entry, place);
        referee.ended(entry.id, epoch, row.sequence, complete, now);
      }
      case Settlement.DeadLetter letter -> {
        remove(entry, place);
        if (!bugs.contains(Bug.DEAD_LETTER_DELETED)) {
          dead.add(row);
        }
        referee.ended(entry.id, epoch, row.sequence, letter, now);
      }
      case Settlement.Retry retry -> {
        row.due = now.plus(retry.delay());
        if (!retry.counted()) {
          row.attempts--;
        }
        takeBack(entry, place);
        if (bugs.contains(Bug.RETRY_TO_TAIL)) {
          entry.rows.remove(row);
          entry.rows.add(row);
        }
      }
      case Settlement.Park park -> {
        entry.isParked = true;
        takeBack(entry, place);
        entry.isLeased = false;
        referee.released(entry.id, entry.epoch);
        referee.parked(entry.id);
      }
    }
    entry.isForgotten &= !entry.rows.isEmpty();
  }

  private static int placeOf(SessionEntry entry, long sequence) {
    for (int i = 0; i < entry.rows.size(); i++) {
      if (entry.rows.get(i).sequence == sequence) {
        return i;
      }
    }
    return -1;
  }

  private static void remove(SessionEntry entry, int place) {
    entry.rows.remove(place);
    entry.handed = Math.max(0, entry.handed - 1);
  }

  /** Makes deliveries behind a retried message void, without counting an attempt. */
  private void takeBack(SessionEntry entry, int place) {
    if (bugs.contains(Bug.BATCH_GOES_ON_AFTER_RETRY)) {
      return;
    }
    for (int i = place + 1; i < entry.handed; i++) {
      entry.rows.get(i).attempts--;
    }
    entry.handed = place;
  }

  Instant renew(SessionId session, long epoch, Instant now) {
    var entry =
        bugs.contains(Bug.STALE_RENEWAL_COUNTS) ? entry(session) : held(session, epoch, now);
    if (bugs.contains(Bug.RENEWAL_DOES_NOTHING)) {
      return now.plus(lock);
    }
    entry.until = now.plus(lock);
    referee.renewed(session, epoch, entry.until);
    return entry.until;
  }

  SessionState state(SessionId session, long epoch, Instant now) {
    return held(session, epoch, now).state;
  }

  SessionState writeState(SessionId session, long epoch, SessionState.Write write, Instant now) {
    var entry = held(session, epoch, now);
    write(entry, write);
    return entry.state;
  }

  void close(SessionId session, long epoch, Instant now) {
    var entry = entries.get(session);
    boolean isMine =
        entry != null && entry.isLeased && entry.epoch == epoch && entry.until.isAfter(now);
    if (entry != null && (isMine || (bugs.contains(Bug.STALE_CLOSE_RELEASES) && entry.isLeased))) {
      for (int i = 0; i < entry.handed; i++) {
        entry.rows.get(i).attempts--;
      }
      free(entry, now);
    }
  }

  private SessionEntry entry(SessionId session) {
    return Optional.ofNullable(entries.get(session)).orElseThrow();
  }

  private SessionEntry held(SessionId session, long epoch, Instant now) {
    var entry = heldOrLate(session, epoch);
    if (!entry.until.isAfter(now)) {
      throw new KeeperException.LockLost("session " + session, epoch);
    }
    return entry;
  }

  private SessionEntry heldOrLate(SessionId session, long epoch) {
    @Nullable SessionEntry entry = entries.get(session);
    if (entry == null || !entry.isLeased || entry.epoch != epoch) {
      throw new KeeperException.LockLost("session " + session, epoch);
    }
    return entry;
  }

  // Reads of the simulation itself.

  Copy copy() {
    var rows = new LinkedHashMap<SessionId, SessionEntry>();
    entries.forEach((id, entry) -> rows.put(id, entry.copy()));
    return new Copy(rows, new HashMap<>(known), new ArrayList<>(dead), lastSequence, lastEpoch);
  }

  /** Continues from a copy, as a promoted standby does: later changes are lost. */
  void promote(Copy copy) {
    restore(copy);
    promotions++;
    if (bugs.contains(Bug.PROMOTION_REPEATS_EPOCHS)) {
      return;
    }
    lastEpoch = promotions * FIRST_EPOCH_AFTER_PROMOTION;
    entries
        .values()
        .forEach(
            entry -> {
              entry.isLeased = false;
              entry.handed = 0;
            });
  }

  void restore(Copy copy) {
    entries = new LinkedHashMap<>();
    copy.entries.forEach((id, entry) -> entries.put(id, entry.copy()));
    known = new HashMap<>(copy.known);
    dead = new ArrayList<>(copy.dead);
    lastSequence = copy.lastSequence;
    lastEpoch = copy.lastEpoch;
  }

  Map<SessionId, SessionState> states() {
    var states = new LinkedHashMap<SessionId, SessionState>();
    entries.forEach((id, entry) -> states.put(id, entry.state));
    return states;
  }

  Set<MessageId> deadLetters() {
    var ids = new java.util.LinkedHashSet<MessageId>();
    dead.forEach(row -> ids.add(row.message.id()));
    return ids;
  }
}
