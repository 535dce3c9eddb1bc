package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Lets this process read a queue alone while it is the only one that wants sessions and takes many:
 * these are then carried in memory instead of having lanes.
 *
 * <p>Rounds come from {@link ClaimSessions}, one after the other. Whoever needs a lane, here or in
 * another process, says so, and the next round writes it down.
 */
final class ReadAlone {
  /** So much has piled up that it is better read than given lanes. */
  private static final int PILE = 1024;

  /** The first page is there soon; those behind it are larger, and a hold has more to do then. */
  private static final int LARGER_PAGES = 4;

  private static final Duration QUIET = Duration.ofSeconds(1);
  private static final Duration LOOK_FOR_ROOM = Duration.ofMillis(5);
  private static final long IDLE_NANOS = Duration.ofSeconds(2).toNanos();
  private static final Duration ALONE = Duration.ofSeconds(5);
  private static final long ASK_AGAIN_NANOS = Duration.ofMillis(100).toNanos();

  /** Others are heard of at once, as long as no notification is lost. */
  private static final long LOOK_AT_ASKS_NANOS = Duration.ofMillis(500).toNanos();

  private static final long RELIEVE_NANOS = Duration.ofMillis(20).toNanos();

  private final OrderedQueue queue;
  private final TimeSource time;
  private final WorthReading worth;
  private final int page;
  private final ReaderTable table;
  private final AskTable asks;
  private final CarriedSessions sessions;
  private final OpenBundles bundles = new OpenBundles();
  private volatile @Nullable Reading reading;
  private volatile boolean isStopAsked;
  private volatile boolean isExpiredAsked;
  private volatile boolean isAsked;
  private volatile long askedAt;
  private long relievedAt;
  private long lookedAtAsks;

  private boolean hasLookedForPile;

  /** The answer to a look that let lanes go was lost: no other look tells what they had. */
  private boolean mayHaveLostRelieved;

  ReadAlone(OrderedQueue queue, PostgresOptions options) {
    this.queue = queue;
    this.time = queue.time();
    this.worth = new WorthReading(time, options.carryFrom());
    this.page = options.page();
    this.table = new ReaderTable(queue);
    this.asks = new AskTable(queue);
    this.sessions = new CarriedSessions(queue);
    long now = time.nanoTime();
    this.relievedAt = now - RELIEVE_NANOS;
    this.lookedAtAsks = now - LOOK_AT_ASKS_NANOS;
    this.askedAt = now - ASK_AGAIN_NANOS;
  }

  boolean isReading() {
    return reading != null;
  }

  Optional<Reading> reading() {
    return Optional.ofNullable(reading);
  }

  /** Of which bundles messages are carried. */
  OpenBundles bundles() {
    return bundles;
  }

  boolean hasReady() {
    return isReading() && sessions.hasReady();
  }

  boolean isLaneNext() {
    return sessions.isLaneNext();
  }

  /** Whether what is carried may be handed out. */
  boolean isSafe(long now) {
    var current = reading;
    return current != null && current.isSafe(now);
  }

  /** A carried session, if one is ready and its turn has come. */
  @Nullable HeldLane take(Owner owner) {
    var current = reading;
    return current == null ? null : sessions.take(owner, current);
  }

  /** Takes a session back; false when it has a lane by now and is given back there. */
  boolean release(HeldLane lane, List<ClaimedLane.Found> leftover, boolean isClean) {
    boolean isDone = sessions.release(lane, leftover, isClean);
    if (isDone && !isClean) {
      queue.claims().ask();
    }
    return isDone;
  }

  /** Returns when the session is not being written down any more. */
  void awaitWriting(SessionId session) {
    sessions.awaitWriting(session);
  }

  /** Gives a held session its lane, for what only lanes can do. */
  void writeDown(HeldLane lane) {
    if (sessions.mark(lane)) {
      worth.neededLane();
      Waits.join(queue.claims().join());
    }
  }

  /** Somebody wants something of who reads; the next round looks. */
  void asked() {
    isAsked = true;
  }

  /** What has become too old in memory has its lane when the next round is over. */
  void writeExpired() {
    isExpiredAsked = true;
  }

  /** Sessions that are carried: those that wait for an owner. */
  int ready() {
    return isReading() ? sessions.ready() : 0;
  }

  /** Sessions that are carried: those that somebody holds. */
  int held() {
    return isReading() ? sessions.held() : 0;
  }

  /** Sessions that are carried and that somebody holds, as the inspector shows them. */
  NavigableMap<SessionId, InspectQueue.CarriedHold> holds() {
    return isReading() ? sessions.holds() : new TreeMap<>();
  }

  /** Ends with the next round, and does not begin again for a while. */
  void stop() {
    if (isReading()) {
      isStopAsked = true;
    }
    if (worth.isAlways()) {
      worth.failed();
    } else {
      worth.notWithin(ALONE);
    }
  }

  /** Whether something that is carried must be written down soon. */
  boolean hasToWrite() {
    var current = reading;
    return current != null && sessions.hasToWrite(heldBefore(current));
  }

  /** Whether the lease of the reader must be extended soon, by a round. */
  Optional<Duration> beatEvery() {
    return reading().map(Reading::beatEvery);
  }

  /**
   * Begins without waiting for a reason, where that is wanted, or where much had piled up before
   * anybody here waited for sessions.
   */
  void beginAtOnce() {
    if (reading != null) {
      return;
    }
    if (worth.isAlways()) {
      tookLanes(0);
    } else if (!hasLookedForPile && !worth.isNever()) {
      hasLookedForPile = true;
      begin(PILE);
    }
  }

  /** Sessions were taken as lanes, and nothing is left: perhaps it is worth reading alone. */
  void tookLanes(int count) {
    if (worth.tookLanes(count) && !begin(0)) {
      worth.failed();
    }
  }

  /** Begins if so much is new, and nothing is against it. */
  private boolean begin(int least) {
    long now = time.nanoTime();
    var begun = become(least);
    if (begun.isEmpty()) {
      return false;
    }
    isStopAsked = false;
    mayHaveLostRelieved = false;
    isAsked = true;
    worth.begins(sessions.taken());
    sessions.begin();
    bundles.clear();
    reading = new Reading(begun.get(), now);
    queue.claims().ask();
    return true;
  }

  private Optional<ReaderTable.Begun> become(int least) {
    try {
      return table.become(least, worth.isAlways() ? Duration.ZERO : ALONE);
    } catch (KeeperException e) {
      return Optional.empty(); // Nobody waits for it; there will be another occasion.
    }
  }

  /** How many sessions had news; -1 when this process does not read alone, or not any more. */
  int round() {
    var current = reading;
    if (current == null) {
      return -1;
    }
    if (worth.isOver(sessions.taken())) {
      isStopAsked = true;
    }
    var wishes = lookAtAsks();
    if (!write(current, isStopAsked || sessions.untouchedNanos() > IDLE_NANOS, wishes)) {
      return -1;
    }
    if (!wishes.asks.isEmpty()) {
      queue.tellOthers();
    }
    long began = time.nanoTime();
    boolean beats = current.isBeatDue(began);
    int room = room(current);
    if (room == 0 && !beats) {
      // What is in memory comes first.
      queue.alarm().ringWithin(LOOK_FOR_ROOM);
      return 0;
    }
    boolean relieves = began - relievedAt >= RELIEVE_NANOS;
    if (relieves) {
      relievedAt = began;
    }
    if (beats && !table.beat(current.epoch())) {
      lose();
      return -1;
    }
    var news = read(current, Math.max(1, room), relieves);
    queue.transfers().took(news.bytes, time.nanoTime() - began, current.lease());
    if (news.isLate) {
      queue.alarm().ringWithin(ClaimSessions.LOOK_AGAIN);
    }
    if (news.isLost) {
      lose();
      return -1;
    }
    current.read(news, began, time.nanoTime(), beats);
    bundles.add(news.bundles);
    sessions.add(news);
    news.heldLanes.forEach(queue::tellNews);
    if (isStopAsked || hasToWrite() || current.isInPages()) {
      queue.claims().ask();
    }
    // Pages are read as fast as there is room for them.
    return current.isInPages() ? 0 : news.messages.size() + news.heldLanes.size();
  }

  /** Reads, and remembers whether lanes may have been let go of which the answer was lost. */
  private ReaderTable.News read(Reading current, int room, boolean relieves) {
    boolean looksForLost = mayHaveLostRelieved && current.isCurrent();
    try {
      var news =
          table.read(
              current,
              room,
              Math.max(1, queue.roomForBodies()),
              relieves,
              looksForLost ? Optional.of(sessions.ids()) : Optional.empty());
      mayHaveLostRelieved &= !looksForLost;
      return news;
    } catch (RuntimeException e) {
      mayHaveLostRelieved |= relieves;
      throw e;
    }
  }

  /** Reads what others want of this process, if there may be something new. */
  private AskTable.Wishes lookAtAsks() {
    long now = time.nanoTime();
    if (!isAsked && now - lookedAtAsks < LOOK_AT_ASKS_NANOS) {
      return AskTable.Wishes.NONE;
    }
    isAsked = false;
    lookedAtAsks = now;
    var wishes = asks.open();
    if (wishes.isStop) {
      stop();
    }
    return wishes;
  }

  /** Whether there is more to read, nothing to hand out, and room. */
  boolean needsNextPage() {
    var current = reading;
    return current != null && current.isInPages() && !sessions.hasReady() && room(current) > 0;
  }

  /** How many messages may be read now. */
  private int room(Reading current) {
    if (queue.roomForBodies() == 0) {
      return 0;
    }
    int most = current.mostInMemory();
    if (current.isInPages()) {
      return Math.clamp(most - sessions.inMemory(), 0, page * LARGER_PAGES);
    }
    boolean isTight = sessions.waiting() > most / 2;
    return isTight ? Math.clamp(most - sessions.inMemory(), 0, page) : page;
  }

  /** Ready lanes were claimed; whether there are more. */
  void lanesLeft(boolean areLeft) {
    if (!areLeft) {
      sessions.noLanes();
    }
  }

  /**
   * Meets who reads this queue alone.
   *
   * @param isWanted whether somebody here wants any session, and the other one is to stop
   */
  void meet(String reader, boolean isWanted) {
    if (reader.equals(queue.node().id())) {
      if (!isReading() && !sessions.areLostHeld()) {
        // The answer that it had begun was lost, or the database has crashed.
        table.forgetOwn();
        queue.claims().ask();
      }
      return;
    }
    long now = time.nanoTime();
    worth.notWithin(ALONE);
    if (isWanted && now - askedAt > ASK_AGAIN_NANOS) {
      askedAt = now;
      asks.askToStop();
      queue.tellAsked();
    }
  }

  /**
   * A hold in which nothing has moved since then needs a lane. While a pile is read that is longer
   * ago: who waits for the next page is not idle, and once it has a lane all of its pile goes
   * there.
   */
  private long heldBefore(Reading current) {
    var least =
        current.isInPages()
            ? CarriedSessions.longHold(
                current.lease(), Duration.ofNanos(CarriedHolds.LONGEST_NANOS))
            : CarriedSessions.longHold(current.lease(), QUIET);
    return time.nanoTime() - least.toNanos();
  }

  /** Writes down what must be; false when this was the end. */
  private boolean write(Reading current, boolean ends, AskTable.Wishes wishes) {
    if (isExpiredAsked) {
      isExpiredAsked = false;
      sessions.markExpired(current.momentAt(time.nanoTime()));
    }
    sessions.markAll(wishes.sessions);
    var chosen = sessions.toWrite(ends, heldBefore(current));
    if (chosen.isEmpty() && wishes.asks.isEmpty() && !ends) {
      return true;
    }
    var ids =
        chosen.stream().map(session -> session.id).collect(Collectors.toCollection(HashSet::new));
    Optional<ReaderTable.Written> written;
    try {
      written =
          table.writeDown(
              new ReaderTable.Writing(
                  current.epoch(),
                  lines(chosen),
                  ends ? bundles.all() : bundles.of(ids),
                  wishes,
                  ends ? Optional.of(current) : Optional.empty()));
    } catch (RuntimeException e) {
      isAsked = true;
      sessions.notWritten(chosen);
      throw e;
    }
    if (written.isEmpty()) {
      lose();
      return false;
    }
    ids.addAll(wishes.sessions);
    bundles.becameRows(ids);
    sessions.written(chosen, written.get().leaseEnds());
    written.get().heldLanes().forEach(queue::tellNews);
    if (ends) {
      end();
    }
    return !ends;
  }

  private static List<ReaderTable.Line> lines(List<Carried> chosen) {
    var lines = new ArrayList<ReaderTable.Line>();
    for (var session : chosen) {
      var holder = session.holder;
      lines.add(
          holder == null
              ? new ReaderTable.Line(
                  session.id, 0, "", Duration.ZERO, session.isToBePlaced ? 0 : session.place)
              : holder.line());
    }
    return lines;
  }

  private void lose() {
    reading = null;
    bundles.clear();
    sessions.lose();
    stop();
    queue.tellOthers();
  }

  private void end() {
    reading = null;
    bundles.clear();
    isStopAsked = false;
    queue.tellOthers();
  }
}
