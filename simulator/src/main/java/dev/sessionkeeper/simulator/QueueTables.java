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
  private Map<SessionId, Lane> lanes = new LinkedHashMap<>();
  private Map<MessageId, Long> known = new HashMap<>();
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
      Map<SessionId, Lane> lanes,
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

  private static final class Lane {
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

    Lane(SessionId id) {
      this.id = id;
    }

    Lane copy() {
      var copy = new Lane(id);
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
      long sequence = ++lastSequence;
      known.put(message.id(), sequence);
      var lane = lanes.computeIfAbsent(message.session().orElseThrow(), Lane::new);
      if (bugs.contains(Bug.SESSION_FORGOTTEN) && lane.isLeased && lane.rows.size() == 1) {
        lane.isForgotten = true;
      }
      lane.rows.add(new Row(message, sequence, now));
      if (lane.waitsSince.equals(Instant.MAX)) {
        lane.waitsSince = now;
      }
      referee.stored(lane.id, message.id(), sequence);
      outcomes.add(new SendOutcome.Stored(message.id(), sequence));
    }
    return outcomes;
  }

  // Statements of consumers.

  Optional<Granted> accept(String owner, Instant now) {
    Lane longest = null;
    for (var lane : lanes.values()) {
      expire(lane, now);
      boolean isFree =
          !lane.isLeased || (bugs.contains(Bug.LEASE_ENDS_EARLY) && isNearEnd(lane, now));
      if (isFree && !lane.isParked && !lane.isForgotten && isReady(lane, now)) {
        longest = longest == null || lane.waitsSince.isBefore(longest.waitsSince) ? lane : longest;
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

  private boolean isNearEnd(Lane lane, Instant now) {
    return lane.until.minus(lock.dividedBy(3)).isBefore(now);
  }

  private static boolean isReady(Lane lane, Instant now) {
    return !lane.rows.isEmpty() && !lane.rows.get(0).due.isAfter(now);
  }

  boolean hasReady(Instant now) {
    return lanes.values().stream()
        .anyMatch(
            lane ->
                (!lane.isLeased || !lane.until.isAfter(now))
                    && !lane.isParked
                    && isReady(lane, now));
  }

  /** Ends an expired lease. Its open messages are delivered again. */
  private void expire(Lane lane, Instant now) {
    if (!lane.isLeased || lane.until.isAfter(now) || bugs.contains(Bug.LEASE_OF_DEAD_OWNER_STAYS)) {
      return;
    }
    if (bugs.contains(Bug.EXPIRED_TO_TAIL) && lane.handed > 0) {
      var open = List.copyOf(lane.rows.subList(0, lane.handed));
      lane.rows.subList(0, lane.handed).clear();
      lane.rows.addAll(open);
    }
    if (bugs.contains(Bug.ATTEMPT_NOBODY_USED)) {
      lane.rows.forEach(row -> row.attempts++);
      while (!lane.rows.isEmpty() && lane.rows.get(0).attempts >= maxDeliveries) {
        var row = lane.rows.remove(0);
        dead.add(row);
        referee.ended(lane.id, lane.epoch, row.sequence, Settlement.deadLetter("used up"), now);
      }
    }
    free(lane, now);
  }

  private void free(Lane lane, Instant now) {
    lane.isLeased = false;
    lane.handed = 0;
    lane.waitsSince = lane.rows.isEmpty() ? Instant.MAX : now;
    referee.released(lane.id, lane.epoch);
  }

  List<Delivery> receive(SessionId session, long epoch, int most, Instant now) {
    var lane = held(session, epoch, now);
    var batch = new ArrayList<Delivery>();
    while (batch.size() < most && lane.hasWork(now)) {
      var row = lane.rows.get(lane.handed++);
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
    var lane =
        bugs.contains(Bug.STALE_SETTLEMENT_COUNTS)
            ? lane(session)
            : bugs.contains(Bug.LATE_SETTLEMENT_COUNTS)
                ? heldOrLate(session, epoch)
                : held(session, epoch, now);
    requireInOrder(lane, settlements);
    if (write.isPresent()) {
      write(lane, write.get());
    }
    for (var settled : settlements) {
      apply(lane, epoch, settled, now);
    }
  }

  private void requireInOrder(Lane lane, List<Settled> settlements) {
    if (bugs.contains(Bug.BATCH_GOES_ON_AFTER_RETRY)
        || bugs.contains(Bug.STALE_SETTLEMENT_COUNTS)) {
      return;
    }
    for (int i = 0; i < settlements.size(); i++) {
      if (i >= lane.handed || lane.rows.get(i).sequence != settlements.get(i).sequence()) {
        throw new KeeperException.OutOfOrder(
            lane.id, settlements.get(i).sequence(), "it is not the first one in hand");
      }
    }
  }

  private static void write(Lane lane, SessionState.Write write) {
    if (write.expectedVersion() != SessionState.ANY_VERSION
        && write.expectedVersion() != lane.state.version()) {
      throw new KeeperException.StaleState(lane.id, write.expectedVersion(), lane.state.version());
    }
    lane.state = new SessionState(write.bytes(), lane.state.version() + 1);
  }

  private void apply(Lane lane, long epoch, Settled settled, Instant now) {
    int place = placeOf(lane, settled.sequence());
    if (place < 0) {
      return; // Happens only with a planted bug that breaks the order.
    }
    var row = lane.rows.get(place);
    referee.settling(lane.id, epoch, settled.sequence(), now);
    switch (settled.settlement()) {
      case Settlement.Complete complete -> {
        remove(lane, place);
        referee.ended(lane.id, epoch, row.sequence, complete, now);
      }
      case Settlement.DeadLetter letter -> {
        remove(lane, place);
        if (!bugs.contains(Bug.DEAD_LETTER_DELETED)) {
          dead.add(row);
        }
        referee.ended(lane.id, epoch, row.sequence, letter, now);
      }
      case Settlement.Retry retry -> {
        row.due = now.plus(retry.delay());
        if (!retry.counted()) {
          row.attempts--;
        }
        takeBack(lane, place);
        if (bugs.contains(Bug.RETRY_TO_TAIL)) {
          lane.rows.remove(row);
          lane.rows.add(row);
        }
      }
      case Settlement.Park park -> {
        lane.isParked = true;
        takeBack(lane, place);
        lane.isLeased = false;
        referee.released(lane.id, lane.epoch);
        referee.parked(lane.id);
      }
    }
    lane.isForgotten &= !lane.rows.isEmpty();
  }

  private static int placeOf(Lane lane, long sequence) {
    for (int i = 0; i < lane.rows.size(); i++) {
      if (lane.rows.get(i).sequence == sequence) {
        return i;
      }
    }
    return -1;
  }

  private static void remove(Lane lane, int place) {
    lane.rows.remove(place);
    lane.handed = Math.max(0, lane.handed - 1);
  }

  /** Makes deliveries behind a retried message void, without counting an attempt. */
  private void takeBack(Lane lane, int place) {
    if (bugs.contains(Bug.BATCH_GOES_ON_AFTER_RETRY)) {
      return;
    }
    for (int i = place + 1; i < lane.handed; i++) {
      lane.rows.get(i).attempts--;
    }
    lane.handed = place;
  }

  Instant renew(SessionId session, long epoch, Instant now) {
    var lane = bugs.contains(Bug.STALE_RENEWAL_COUNTS) ? lane(session) : held(session, epoch, now);
    lane.until = now.plus(lock);
    referee.renewed(session, epoch, lane.until);
    return lane.until;
  }

  SessionState state(SessionId session, long epoch, Instant now) {
    return held(session, epoch, now).state;
  }

  SessionState writeState(SessionId session, long epoch, SessionState.Write write, Instant now) {
    var lane = held(session, epoch, now);
    write(lane, write);
    return lane.state;
  }

  void close(SessionId session, long epoch, Instant now) {
    var lane = lanes.get(session);
    boolean isMine =
        lane != null && lane.isLeased && lane.epoch == epoch && lane.until.isAfter(now);
    if (lane != null && (isMine || (bugs.contains(Bug.STALE_CLOSE_RELEASES) && lane.isLeased))) {
      for (int i = 0; i < lane.handed; i++) {
        lane.rows.get(i).attempts--;
      }
      free(lane, now);
    }
  }

  private Lane lane(SessionId session) {
    return Optional.ofNullable(lanes.get(session)).orElseThrow();
  }

  private Lane held(SessionId session, long epoch, Instant now) {
    var lane = heldOrLate(session, epoch);
    if (!lane.until.isAfter(now)) {
      throw new KeeperException.LockLost("session " + session, epoch);
    }
    return lane;
  }

  private Lane heldOrLate(SessionId session, long epoch) {
    @Nullable Lane lane = lanes.get(session);
    if (lane == null || !lane.isLeased || lane.epoch != epoch) {
      throw new KeeperException.LockLost("session " + session, epoch);
    }
    return lane;
  }

  // Reads of the simulation itself.

  Copy copy() {
    var rows = new LinkedHashMap<SessionId, Lane>();
    lanes.forEach((id, lane) -> rows.put(id, lane.copy()));
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
    lanes
        .values()
        .forEach(
            lane -> {
              lane.isLeased = false;
              lane.handed = 0;
            });
  }

  void restore(Copy copy) {
    lanes = new LinkedHashMap<>();
    copy.lanes.forEach((id, lane) -> lanes.put(id, lane.copy()));
    known = new HashMap<>(copy.known);
    dead = new ArrayList<>(copy.dead);
    lastSequence = copy.lastSequence;
    lastEpoch = copy.lastEpoch;
  }

  Map<SessionId, SessionState> states() {
    var states = new LinkedHashMap<SessionId, SessionState>();
    lanes.forEach((id, lane) -> states.put(id, lane.state));
    return states;
  }

  Set<MessageId> deadLetters() {
    var ids = new java.util.LinkedHashSet<MessageId>();
    dead.forEach(row -> ids.add(row.message.id()));
    return ids;
  }
}
