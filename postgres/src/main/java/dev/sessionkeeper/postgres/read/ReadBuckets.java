package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.OpenBatches;
import dev.sessionkeeper.postgres.batch.ReaderBuckets;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.lease.Hold;
import dev.sessionkeeper.postgres.lease.HoldParts;
import dev.sessionkeeper.postgres.lease.OwnedSession;
import dev.sessionkeeper.postgres.lease.OwnedSessions;
import dev.sessionkeeper.postgres.lease.SessionCache;
import dev.sessionkeeper.postgres.poll.Polling;
import dev.sessionkeeper.postgres.prefetch.PrefetchRoom;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the buckets that this process owns: all buckets of a queue, or a share if other processes
 * read too. Sessions are then in memory and have no rows. A process begins if it takes many
 * sessions, or if others read and a consumer here waits.
 *
 * <p>The polls of the queue call this class, one after the other. A class or another process that
 * needs the row of a session requests it, and the next poll persists the session.
 */
public final class ReadBuckets implements SessionCache {
  /** The backlog above which reading is better than unpacking into rows. */
  private static final int BACKLOG = 1024;

  /**
   * The first page is small, so that it arrives soon; later pages are larger, so that a hold has
   * more work.
   */
  private static final int LARGER_PAGES = 4;

  private static final Duration QUIET = Duration.ofSeconds(1);
  private static final Duration LOOK_FOR_ROOM = Duration.ofMillis(5);
  private static final long IDLE_NANOS = Duration.ofSeconds(2).toNanos();

  /**
   * A share without messages is given up after this time, so that other readers divide its buckets.
   */
  private static final long IDLE_PART_NANOS = Duration.ofSeconds(10).toNanos();

  private static final Duration ALONE = Duration.ofSeconds(5);

  /** Session requests are read at least this often, in case a notification was lost. */
  private static final long LOOK_AT_ASKS_NANOS = Duration.ofMillis(500).toNanos();

  private static final long RELIEVE_NANOS = Duration.ofMillis(20).toNanos();

  private final QueueContext queue;
  private final Polling polling;
  private final ReaderBuckets parts;
  private final PrefetchRoom prefetch;
  private final OwnedSessions owned;
  private final TimeSource time;
  private final ReadingPolicy worth;
  private final int page;
  private final ReaderTable table;
  private final PersistSessions persist;
  private final AskTable asks;
  private final WantSessions wants;
  private final CachedSessions sessions;
  private final OpenBatches batches = new OpenBatches();
  private volatile @Nullable ReaderLease reading;
  private volatile boolean isStopAsked;
  private boolean isToMove;
  private volatile boolean isExpiredAsked;
  private volatile boolean isAsked;
  private long relievedAt;
  private long lookedAtAsks;

  private boolean hasLookedForBacklog;

  /**
   * Whether a read without an answer may have deleted session rows, so that the next read must
   * return the messages of these sessions again.
   */
  private boolean mayHaveLostRelieved;

  public ReadBuckets(
      HoldParts hold, OwnedSessions owned, ReadingOptions options, ReaderBuckets parts) {
    this.queue = hold.queue();
    this.polling = hold.polling();
    this.prefetch = hold.room();
    this.owned = owned;
    this.parts = parts;
    this.time = queue.time();
    this.worth = new ReadingPolicy(time, options.from());
    this.page = options.page();
    this.table = new ReaderTable(queue);
    this.persist = new PersistSessions(queue);
    this.asks = new AskTable(queue);
    this.wants = new WantSessions(queue, polling, asks);
    this.sessions = new CachedSessions(hold, owned, this);
    long now = time.nanoTime();
    this.relievedAt = now - RELIEVE_NANOS;
    this.lookedAtAsks = now - LOOK_AT_ASKS_NANOS;
  }

  public boolean isReading() {
    return reading != null;
  }

  /** Returns how many of the 64 buckets this process reads. */
  public int ownedBuckets() {
    var current = reading;
    return current == null ? 0 : Long.bitCount(current.buckets());
  }

  /** Returns whether this process reads the whole queue. */
  public boolean isAlone() {
    var current = reading;
    return current != null && current.isAlone();
  }

  @Override
  public OptionalLong epoch() {
    var current = reading;
    return current == null ? OptionalLong.empty() : OptionalLong.of(current.epoch());
  }

  @Override
  public OpenBatches batches() {
    return batches;
  }

  @Override
  public Instant momentAt(long now) {
    var current = reading;
    return current == null ? Instant.EPOCH : current.momentAt(now);
  }

  public boolean hasReady() {
    return isReading() && sessions.hasReady();
  }

  public boolean isRowNext() {
    return sessions.isRowNext();
  }

  @Override
  public boolean isSafe(long now) {
    var current = reading;
    return current != null && current.isSafe(now);
  }

  /** Takes a session from memory, if one is ready and has waited longest. */
  public @Nullable OwnedSession take(Owner owner) {
    var current = reading;
    return current == null ? null : sessions.take(owner, current);
  }

  @Override
  public boolean release(Hold hold, List<FoundMessage> leftover, boolean isClean) {
    boolean isDone = sessions.release(hold, leftover, isClean);
    if (isDone && !isClean) {
      polling.requests().ask();
    }
    return isDone;
  }

  @Override
  public void awaitPersisting(SessionId session) {
    sessions.awaitPersisting(session);
  }

  @Override
  public void persist(Hold hold) {
    if (sessions.mark(hold)) {
      worth.neededRow();
      Futures.join(polling.requests().join());
    }
  }

  /** Makes the next poll read the session requests of other processes. */
  public void asked() {
    isAsked = true;
  }

  /** Makes the next poll persist sessions with expired messages. */
  void persistExpired() {
    isExpiredAsked = true;
  }

  /** Returns the number of sessions in memory that wait for an owner. */
  public int ready() {
    return isReading() ? sessions.ready() : 0;
  }

  /** Returns the number of sessions in memory that have an owner. */
  public int held() {
    return isReading() ? sessions.held() : 0;
  }

  /** Returns the held sessions in memory, as the inspector shows them. */
  public NavigableMap<SessionId, CachedHold> holds() {
    return isReading() ? sessions.holds() : new TreeMap<>();
  }

  /** Ends the reading with the next poll. It does not begin again for a while. */
  public void stop() {
    if (isReading()) {
      isStopAsked = true;
    }
    if (worth.isAlways()) {
      worth.failed();
    } else {
      worth.notWithin(ALONE);
    }
  }

  /** Returns whether a session in memory must be persisted soon. */
  public boolean hasToPersist() {
    var current = reading;
    return current != null && sessions.hasToPersist(heldBefore(current));
  }

  /**
   * Returns how often a poll must extend the lease of the reader; empty if this process does not
   * read.
   */
  public Optional<Duration> heartbeatEvery() {
    return Optional.ofNullable(reading).map(ReaderLease::heartbeatEvery);
  }

  /**
   * Begins at once if the options say so, or if there was a backlog before the first consumer
   * waited.
   */
  public void beginAtOnce() {
    if (reading != null) {
      return;
    }
    if (worth.isAlways()) {
      claimedRows(0);
    } else if (!hasLookedForBacklog && !worth.isNever()) {
      hasLookedForBacklog = true;
      begin(BACKLOG, false);
    }
  }

  /**
   * Records how many sessions were claimed as rows while no process reads. If there are many, this
   * process may become a reader.
   */
  public void claimedRows(int count) {
    if (worth.claimedRows(count) && !begin(0, worth.isAlways())) {
      worth.failed();
    }
  }

  /**
   * Records how many sessions were claimed as rows while others read. A process that takes many
   * should have a share.
   */
  public void claimedRowsOfOthers(int count) {
    if (reading == null && count > 0 && worth.claimedRows(count)) {
      join();
    }
  }

  /** Takes a share of the buckets. */
  private boolean join() {
    boolean hasJoined = worth.isAllowed() && begin(0, true);
    if (!hasJoined) {
      worth.failed();
    }
    return hasJoined;
  }

  /** Begins to read if there are at least that many new messages. */
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
      queue.tellReaders(); // Readers with more than their part give some up.
    }
    return true;
  }

  /** Reads these buckets from now on. */
  private void read(BucketAssignment begun, long now) {
    var failed = table.failedHeads();
    mayHaveLostRelieved = false;
    isAsked = true;
    isToMove = false;
    sessions.begin(failed);
    batches.clear();
    reading = new ReaderLease(begun, now);
    polling.requests().ask();
  }

  private Optional<BucketAssignment> become(int least, boolean joins) {
    try {
      return table.become(least, worth.isAlways() ? Duration.ZERO : ALONE, joins);
    } catch (KeeperException e) {
      return Optional.empty(); // No caller waits for it; a later poll tries again.
    }
  }

  /**
   * Reads once, and returns how many sessions had new messages. Returns -1 if this process is no
   * reader, or lost the right to read.
   */
  public int poll() {
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
    boolean beats = current.isHeartbeatDue(began);
    int room = room(current);
    if (room == 0 && !beats) {
      // Messages in memory are handed out first.
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
    batches.add(news.batches);
    sessions.add(news);
    news.news.forEach(owned::tellNews);
    if (isStopAsked || hasToPersist() || current.isInPages()) {
      polling.requests().ask();
    }
    // Pages are read as fast as there is room.
    return current.isInPages() ? 0 : news.messages.size() + news.news.size();
  }

  /**
   * Reads, and remembers whether the answer to a read that took sessions back from rows was lost.
   */
  private ReadResult read(ReaderLease current, int room, boolean relieves) {
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

  /** Returns whether the reading must end now, and how. */
  private PersistSessions.End end(ReaderLease current) {
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

  /** Returns the session requests to this process, if there may be new ones. */
  private AskTable.Wishes lookAtAsks(ReaderLease current) {
    long now = time.nanoTime();
    if (!isAsked && now - lookedAtAsks < LOOK_AT_ASKS_NANOS) {
      return AskTable.Wishes.NONE;
    }
    isAsked = false;
    lookedAtAsks = now;
    table.others(current.epoch()).ifPresent(others -> lookAt(others, current));
    return asks.open(current.epoch());
  }

  private void lookAt(ReaderTable.Others others, ReaderLease current) {
    parts.told(others.parts());
    isToMove = others.free() != current.buckets();
    if (others.mustStop()) {
      stop();
    } else if (others.areDead()) {
      table.endDead();
      isAsked = true;
      polling.timer().fireWithin(Polling.RETRY_LOCKED);
    }
  }

  /** Returns whether there is more to read, nothing to deliver, and room. */
  public boolean needsNextPage() {
    var current = reading;
    return current != null && current.isInPages() && !sessions.hasReady() && room(current) > 0;
  }

  /** Returns how many messages may be read now. */
  private int room(ReaderLease current) {
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

  /** Records whether ready sessions with rows are left. */
  public void rowsLeft(boolean areLeft) {
    if (!areLeft) {
      sessions.noRows();
    }
  }

  /**
   * Reacts to another reader of this queue.
   *
   * @param wanted how many consumers of this process wait
   */
  public void meet(String reader, int wanted) {
    if (reader.equals(queue.node().id())) {
      if (!isReading() && !sessions.areLostHeld()) {
        // The answer to the beginning was lost, or the database has crashed.
        table.forgetOwn();
        polling.requests().ask();
      }
      return;
    }
    if (reading != null) {
      return; // This process has its part.
    }
    want(wanted);
    if (wants.isPartNeeded()) {
      join();
    }
  }

  /**
   * Requests sessions from readers, because that many consumers of this process wait and none is
   * ready.
   */
  public void want(int count) {
    if (count == 0 || isAlone()) {
      wants.none();
    } else {
      wants.some(count, isReading());
    }
  }

  /**
   * Returns the time since which a hold must have moved to need no row. While a backlog is read,
   * that time is longer ago: a hold that waits for the next page is not idle, and a row would take
   * over its whole backlog.
   */
  private long heldBefore(ReaderLease current) {
    var least =
        current.isInPages()
            ? CachedSessions.longHold(current.lease(), Duration.ofNanos(WatchedHolds.LONGEST_NANOS))
            : CachedSessions.longHold(current.lease(), QUIET);
    return time.nanoTime() - least.toNanos();
  }

  /** Persists the sessions that need it. Returns false if the reading has ended. */
  private boolean write(ReaderLease current, PersistSessions.End end, AskTable.Wishes wishes) {
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
    var chosen = sessions.toPersist(ends, heldBefore(current));
    if (chosen.isEmpty() && wishes.isEmpty() && !ends) {
      return true;
    }
    // The next reader of the bucket reads sessions without an owner again.
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
                  lines.stream().map(session -> PersistSessions.Row.of(session, began)).toList(),
                  batches.of(ids),
                  wishes,
                  given,
                  new PersistSessions.Ending(end, known(current, end, chosen))),
              current.lease());
    } catch (RuntimeException e) {
      isAsked = true;
      sessions.notPersisted(chosen);
      throw e;
    }
    if (written.isEmpty()) {
      lose();
      return false;
    }
    ids.addAll(wishes.sessions);
    batches.becameRows(ids);
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

  /**
   * Returns the snapshot up to which later readers need not look, because all messages that were
   * read before are settled or in rows.
   */
  private Optional<String> known(
      ReaderLease current, PersistSessions.End end, List<CachedSession> chosen) {
    boolean isAllDone =
        end == PersistSessions.End.STOPS
            && current.isAlone()
            && current.isCurrent()
            && !mayHaveLostRelieved
            && chosen.isEmpty()
            && batches.isEmpty();
    return isAllDone ? Optional.of(current.knownTo()) : Optional.empty();
  }

  private void lose() {
    reading = null;
    batches.clear();
    sessions.lose();
    stop();
    queue.tellOthers();
  }

  private void end() {
    boolean wasAlone = isAlone();
    boolean wasIdle = !isStopAsked;
    reading = null;
    batches.clear();
    isStopAsked = false;
    queue.tellOthers();
    if (!wasAlone) {
      if (wasIdle) {
        worth.notWithin(ALONE); // Otherwise the last reader would never be alone and idle.
      }
      queue.tellReaders(); // The other readers share its part.
    }
  }
}
