package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Lets this process read a queue, or its part of it where others read, too: sessions are then
 * carried in memory instead of having lanes. It does so where it takes many sessions, or where
 * others read and somebody here waits.
 *
 * <p>Rounds come from {@link ClaimSessions}, one after the other. Whoever needs a lane, here or in
 * another process, says so, and the next round writes it down.
 */
final class ReadAlone implements SessionCache {
  /** So much has piled up that it is better read than given lanes. */
  private static final int PILE = 1024;

  /** The first page is there soon; those behind it are larger, and a hold has more to do then. */
  private static final int LARGER_PAGES = 4;

  private static final Duration QUIET = Duration.ofSeconds(1);
  private static final Duration LOOK_FOR_ROOM = Duration.ofMillis(5);
  private static final long IDLE_NANOS = Duration.ofSeconds(2).toNanos();

  /** Where others read, too, and nothing comes to this part: the others would share it. */
  private static final long IDLE_PART_NANOS = Duration.ofSeconds(10).toNanos();

  private static final Duration ALONE = Duration.ofSeconds(5);

  /** Who waits longer while others read takes a part; until then it is given single sessions. */
  private static final Duration JOIN_AFTER = Duration.ofMillis(300);

  private static final long PATIENCE_NANOS = Duration.ofMillis(100).toNanos();
  private static final Duration WANT_AGAIN = Duration.ofMillis(50);
  private static final Duration MOST_WANT_AGAIN = Duration.ofSeconds(2);

  /** Others are heard of at once, as long as no notification is lost. */
  private static final long LOOK_AT_ASKS_NANOS = Duration.ofMillis(500).toNanos();

  private static final long RELIEVE_NANOS = Duration.ofMillis(20).toNanos();

  private final QueueContext queue;
  private final Polling polling;
  private final PartsOfReaders parts;
  private final PrefetchRoom prefetch;
  private final OwnedSessions owned;
  private final TimeSource time;
  private final WorthReading worth;
  private final int page;
  private final ReaderTable table;
  private final PersistSessions persist;
  private final AskTable asks;
  private final CarriedSessions sessions;
  private final OpenBundles bundles = new OpenBundles();
  private volatile @Nullable Reading reading;
  private volatile boolean isStopAsked;
  private boolean isToMove;
  private volatile boolean isExpiredAsked;
  private volatile boolean isAsked;
  private long wantedAt;
  private long wantedSince;
  private boolean isWanted;
  private Duration wantAgain = WANT_AGAIN;
  private long relievedAt;
  private long lookedAtAsks;

  private boolean hasLookedForPile;

  /** The answer to a look that let lanes go was lost: no other look tells what they had. */
  private boolean mayHaveLostRelieved;

  ReadAlone(HoldParts hold, ReadingOptions options, PartsOfReaders parts) {
    this.queue = hold.queue();
    this.polling = hold.polling();
    this.prefetch = hold.room();
    this.owned = hold.owned();
    this.parts = parts;
    this.time = queue.time();
    this.worth = new WorthReading(time, options.from());
    this.page = options.page();
    this.table = new ReaderTable(queue);
    this.persist = new PersistSessions(queue);
    this.asks = new AskTable(queue);
    this.sessions = new CarriedSessions(hold, this);
    long now = time.nanoTime();
    this.relievedAt = now - RELIEVE_NANOS;
    this.lookedAtAsks = now - LOOK_AT_ASKS_NANOS;
    this.wantedAt = now;
    this.wantedSince = now;
  }

  boolean isReading() {
    return reading != null;
  }

  /** Whether this process reads all of the queue. */
  boolean isAlone() {
    var current = reading;
    return current != null && current.isAlone();
  }

  @Override
  public OptionalLong epoch() {
    var current = reading;
    return current == null ? OptionalLong.empty() : OptionalLong.of(current.epoch());
  }

  @Override
  public OpenBundles batches() {
    return bundles;
  }

  @Override
  public Instant momentAt(long now) {
    var current = reading;
    return current == null ? Instant.EPOCH : current.momentAt(now);
  }

  boolean hasReady() {
    return isReading() && sessions.hasReady();
  }

  boolean isLaneNext() {
    return sessions.isLaneNext();
  }

  @Override
  public boolean isSafe(long now) {
    var current = reading;
    return current != null && current.isSafe(now);
  }

  /** A carried session, if one is ready and its turn has come. */
  @Nullable HeldLane take(Owner owner) {
    var current = reading;
    return current == null ? null : sessions.take(owner, current);
  }

  @Override
  public boolean release(HeldLane lane, List<FoundMessage> leftover, boolean isClean) {
    boolean isDone = sessions.release(lane, leftover, isClean);
    if (isDone && !isClean) {
      polling.requests().ask();
    }
    return isDone;
  }

  @Override
  public void awaitPersisting(SessionId session) {
    sessions.awaitWriting(session);
  }

  @Override
  public void persist(HeldLane lane) {
    if (sessions.mark(lane)) {
      worth.neededLane();
      Waits.join(polling.requests().join());
    }
  }

  /** Somebody wants something of who reads; the next round looks. */
  void asked() {
    isAsked = true;
  }

  /** What has become too old in memory has its lane when the next round is over. */
  void persistExpired() {
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
  NavigableMap<SessionId, CachedHold> holds() {
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
    return Optional.ofNullable(reading).map(Reading::beatEvery);
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
      begin(PILE, false);
    }
  }

  /** Sessions were taken as lanes, and nothing is left: perhaps it is worth reading alone. */
  void tookLanes(int count) {
    if (worth.tookLanes(count) && !begin(0, worth.isAlways())) {
      worth.failed();
    }
  }

  /** Sessions were taken as lanes while others read: whoever takes many should have a part. */
  void wasGivenLanes(int count) {
    if (reading == null && count > 0 && worth.tookLanes(count)) {
      join();
    }
  }

  /** Takes a part, where others read. */
  private boolean join() {
    boolean hasJoined = worth.isAllowed() && begin(0, true);
    if (!hasJoined) {
      worth.failed();
    }
    return hasJoined;
  }

  /** Begins if so much is new, and nothing is against it. */
  private boolean begin(int least, boolean joins) {
    long now = time.nanoTime();
    var begun = become(least, joins);
    if (begun.isEmpty()) {
      return false;
    }
    isStopAsked = false;
    worth.begins(sessions.taken());
    read(begun.get(), now);
    if (joins) {
      queue.tellReaders(); // Those who have more than their part by now look.
    }
    return true;
  }

  /** Reads from now on, or goes on with another part. */
  private void read(BucketAssignment begun, long now) {
    mayHaveLostRelieved = false;
    isAsked = true;
    isToMove = false;
    sessions.begin();
    bundles.clear();
    reading = new Reading(begun, now);
    polling.requests().ask();
  }

  private Optional<BucketAssignment> become(int least, boolean joins) {
    try {
      return table.become(least, worth.isAlways() ? Duration.ZERO : ALONE, joins);
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
    var wishes = lookAtAsks(current);
    if (!write(current, end(current), wishes)) {
      return -1;
    }
    if (!wishes.isEmpty()) {
      queue.tellOthers();
    }
    current = reading;
    if (current == null) {
      return -1;
    }
    long began = time.nanoTime();
    boolean beats = current.isBeatDue(began);
    int room = room(current);
    if (room == 0 && !beats) {
      // What is in memory comes first.
      polling.timer().fireWithin(LOOK_FOR_ROOM);
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
    prefetch.took(news.bytes, time.nanoTime() - began, current.lease());
    if (news.summary.isLate()) {
      polling.timer().fireWithin(Polling.RETRY_LOCKED);
    }
    if (news.isLost) {
      lose();
      return -1;
    }
    current.read(news, began, time.nanoTime(), beats);
    bundles.add(news.batches);
    sessions.add(news);
    news.news.forEach(owned::tellNews);
    if (isStopAsked || hasToWrite() || current.isInPages()) {
      polling.requests().ask();
    }
    // Pages are read as fast as there is room for them.
    return current.isInPages() ? 0 : news.messages.size() + news.news.size();
  }

  /** Reads, and remembers whether lanes may have been let go of which the answer was lost. */
  private ReadResult read(Reading current, int room, boolean relieves) {
    boolean looksForLost = mayHaveLostRelieved && current.isCurrent();
    try {
      var news =
          table.read(
              current,
              room,
              Math.max(1, prefetch.bytes()),
              relieves,
              looksForLost ? Optional.of(sessions.ids()) : Optional.empty());
      mayHaveLostRelieved &= !looksForLost;
      return news;
    } catch (RuntimeException e) {
      mayHaveLostRelieved |= relieves;
      throw e;
    }
  }

  /** Whether it must end now, and how. */
  private PersistSessions.End end(Reading current) {
    long untouched = sessions.untouchedNanos();
    boolean isIdle =
        current.isAlone()
            ? untouched > IDLE_NANOS
            : untouched > IDLE_PART_NANOS
                || (untouched > IDLE_NANOS && !polling.requests().isAnybodyWaiting());
    if (isStopAsked || isIdle) {
      return PersistSessions.End.STOPS;
    }
    return isToMove ? PersistSessions.End.MOVES : PersistSessions.End.NONE;
  }

  /** Reads what others want of this process, if there may be something new. */
  private AskTable.Wishes lookAtAsks(Reading current) {
    long now = time.nanoTime();
    if (!isAsked && now - lookedAtAsks < LOOK_AT_ASKS_NANOS) {
      return AskTable.Wishes.NONE;
    }
    isAsked = false;
    lookedAtAsks = now;
    table.others(current.epoch()).ifPresent(others -> lookAt(others, current));
    return asks.open(current.epoch());
  }

  private void lookAt(ReaderTable.Others others, Reading current) {
    parts.told(others.parts());
    isToMove = others.free() != current.buckets();
    if (others.mustStop()) {
      stop();
    } else if (others.areDead()) {
      table.buryDead();
      isAsked = true;
      polling.timer().fireWithin(Polling.RETRY_LOCKED);
    }
  }

  /** Whether there is more to read, nothing to hand out, and room. */
  boolean needsNextPage() {
    var current = reading;
    return current != null && current.isInPages() && !sessions.hasReady() && room(current) > 0;
  }

  /** How many messages may be read now. */
  private int room(Reading current) {
    if (prefetch.bytes() == 0) {
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
   * Meets another process that reads this queue, or its part of it.
   *
   * @param wanted how many here want any session
   */
  void meet(String reader, int wanted) {
    if (reader.equals(queue.node().id())) {
      if (!isReading() && !sessions.areLostHeld()) {
        // The answer that it had begun was lost, or the database has crashed.
        table.forgetOwn();
        polling.requests().ask();
      }
      return;
    }
    if (reading != null) {
      return; // It has its part.
    }
    want(wanted);
    if (isWanted && time.since(wantedSince).compareTo(JOIN_AFTER) >= 0) {
      join();
    } else if (isWanted) {
      polling.timer().fireWithin(JOIN_AFTER);
    }
  }

  /** So many here want a session, and there is none: those who read are asked for some. */
  void want(int count) {
    long now = time.nanoTime();
    if (count == 0 || isAlone()) {
      isWanted = false;
      wantAgain = WANT_AGAIN;
      return;
    }
    boolean isNew = !isWanted;
    if (isNew) {
      isWanted = true;
      wantedSince = now;
    }
    // Who has a part mostly gets something of it in a moment.
    boolean isPatient = isReading() && now - wantedSince < PATIENCE_NANOS;
    if ((isNew && !isReading()) || (!isPatient && now - wantedAt > wantAgain.toNanos())) {
      wantedAt = now;
      wantAgain = min(wantAgain.multipliedBy(2), MOST_WANT_AGAIN);
      if (asks.wantSessions(count)) {
        queue.tellReaders();
      }
    }
    polling.timer().fireWithin(wantAgain);
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
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
  private boolean write(Reading current, PersistSessions.End end, AskTable.Wishes wishes) {
    boolean ends = end != PersistSessions.End.NONE;
    if (isExpiredAsked) {
      isExpiredAsked = false;
      sessions.markExpired(current.momentAt(time.nanoTime()));
    }
    sessions.markAll(wishes.sessions);
    var given = ends ? List.<SessionId>of() : sessions.give(wishes.wanted);
    if (!given.isEmpty()) {
      wishes.asks.addAll(wishes.asksForAny);
    }
    var chosen = sessions.toWrite(ends, heldBefore(current));
    if (chosen.isEmpty() && wishes.isEmpty() && !ends) {
      return true;
    }
    // What nobody holds is read again by whoever has its bucket next.
    var lines = ends ? chosen.stream().filter(session -> session.holder != null).toList() : chosen;
    var ids =
        lines.stream().map(session -> session.id).collect(Collectors.toCollection(HashSet::new));
    long began = time.nanoTime();
    Optional<PersistSessions.Result> written;
    try {
      written =
          persist.persist(
              new PersistSessions.Request(
                  current.epoch(),
                  lines(lines),
                  bundles.of(ids),
                  wishes,
                  given,
                  new PersistSessions.Ending(end, known(current, end, chosen))),
              current.lease());
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
    written.get().news().forEach(owned::tellNews);
    if (end == PersistSessions.End.MOVES) {
      read(written.get().next().get(0), began);
      queue.tellReaders();
    } else if (ends) {
      end();
    }
    return end != PersistSessions.End.STOPS;
  }

  /** Where nothing is left of what was read, nobody has to look through it again. */
  private Optional<String> known(Reading current, PersistSessions.End end, List<Carried> chosen) {
    boolean isAllDone =
        end == PersistSessions.End.STOPS
            && current.isAlone()
            && current.isCurrent()
            && !mayHaveLostRelieved
            && chosen.isEmpty()
            && bundles.isEmpty();
    return isAllDone ? Optional.of(current.knownTo()) : Optional.empty();
  }

  private static List<PersistSessions.Row> lines(List<Carried> chosen) {
    var lines = new ArrayList<PersistSessions.Row>();
    for (var session : chosen) {
      var holder = session.holder;
      lines.add(
          holder == null
              ? new PersistSessions.Row(
                  session.id, 0, "", Duration.ZERO, session.isToBePlaced ? 0 : session.place)
              : rowOf(holder.snapshot()));
    }
    return lines;
  }

  private static PersistSessions.Row rowOf(HoldSnapshot hold) {
    return new PersistSessions.Row(
        hold.session(), hold.epoch(), hold.owner(), hold.left(), hold.lastHandedOut());
  }

  private void lose() {
    reading = null;
    bundles.clear();
    sessions.lose();
    stop();
    queue.tellOthers();
  }

  private void end() {
    boolean wasAlone = isAlone();
    boolean wasIdle = !isStopAsked;
    reading = null;
    bundles.clear();
    isStopAsked = false;
    queue.tellOthers();
    if (!wasAlone) {
      if (wasIdle) {
        worth.notWithin(ALONE); // Or the last one would never find itself alone, and idle.
      }
      queue.tellReaders(); // The others share its part.
    }
  }
}
