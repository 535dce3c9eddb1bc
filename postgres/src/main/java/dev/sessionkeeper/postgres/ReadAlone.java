package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Lets this process read a queue alone while it is the only one that wants sessions and takes many:
 * these are then carried in memory instead of having lanes.
 *
 * <p>Rounds come from {@link ClaimSessions}, one after the other. Whoever needs a lane, here or in
 * another process, says so, and the next round writes it down.
 */
final class ReadAlone {
  private static final int MOST_AT_ONCE = 20_000;
  private static final long MOST_BYTES = 64L << 20;
  private static final long WINDOW_NANOS = Duration.ofMillis(250).toNanos();
  private static final long IDLE_NANOS = Duration.ofSeconds(2).toNanos();
  private static final Duration ALONE = Duration.ofSeconds(5);
  private static final Duration NOT_WORTH_IT = Duration.ofSeconds(10);
  private static final long MEET_AGAIN_NANOS = Duration.ofMillis(100).toNanos();
  private static final int JUDGE_AFTER = 256;
  private static final int MOST_UNUSUAL_PART = 4;

  private final OrderedQueue queue;
  private final TimeSource time;
  private final int from;
  private final ReaderTable table;
  private final CarriedSessions sessions;
  private volatile @Nullable Reading reading;
  private volatile boolean isStopAsked;
  private volatile boolean isAllAsked;
  private volatile long notBefore;
  private final AtomicLong unusual = new AtomicLong();
  private volatile long metAt;
  private long judgedAt;
  private long windowBegan;
  private int inWindow;

  ReadAlone(OrderedQueue queue, int from) {
    this.queue = queue;
    this.time = queue.time();
    this.from = from;
    this.table = new ReaderTable(queue);
    this.sessions = new CarriedSessions(queue);
    this.notBefore = time.nanoTime();
    this.windowBegan = notBefore;
    this.metAt = notBefore - MEET_AGAIN_NANOS;
  }

  boolean isReading() {
    return reading != null;
  }

  Optional<Reading> reading() {
    return Optional.ofNullable(reading);
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

  /** Gives a held session its lane, for what only lanes can do. */
  void writeDown(HeldLane lane) {
    if (sessions.mark(lane)) {
      unusual.incrementAndGet();
      Waits.join(queue.claims().join());
    }
  }

  /** Everything that is carried has its lane when the next round is over. */
  void writeAll() {
    isAllAsked = true;
  }

  /** Ends with the next round, and does not begin again for a while. */
  void stop() {
    if (isReading()) {
      isStopAsked = true;
    }
    notBefore = time.nanoTime() + (from == 0 ? WINDOW_NANOS : ALONE.toNanos());
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

  /** Begins without waiting for a reason, where that is wanted. */
  void beginAtOnce() {
    if (from == 0 && reading == null) {
      tookLanes(0);
    }
  }

  /** Sessions were taken as lanes, and nothing is left: perhaps it is worth reading alone. */
  void tookLanes(int count) {
    long now = time.nanoTime();
    if (now - windowBegan > WINDOW_NANOS) {
      windowBegan = now;
      inWindow = 0;
    }
    inWindow += count;
    if (inWindow < from || from == Integer.MAX_VALUE || now - notBefore < 0) {
      return;
    }
    var begun = become();
    if (begun.isEmpty()) {
      notBefore = now + WINDOW_NANOS;
      return;
    }
    isStopAsked = false;
    isAllAsked = false;
    judgedAt = sessions.taken();
    unusual.set(0);
    sessions.begin();
    reading = new Reading(begun.get(), now);
    queue.claims().ask();
  }

  private Optional<ReaderTable.Begun> become() {
    try {
      return table.become(MOST_AT_ONCE, MOST_BYTES, from == 0 ? Duration.ZERO : ALONE);
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
    judge();
    boolean ends =
        isStopAsked
            || sessions.untouchedNanos() > IDLE_NANOS
            || sessions.waiting() > current.mostAtOnce();
    if (!write(current, ends)) {
      return -1;
    }
    long askedAt = time.nanoTime();
    boolean beats = current.isBeatDue(askedAt);
    var news = table.read(current, beats);
    if (news.isLost) {
      lose();
      return -1;
    }
    if (news.isTooMuch) {
      stop();
      queue.claims().ask();
      return 0;
    }
    current.read(news, askedAt, beats);
    sessions.add(news);
    news.heldLanes.forEach(queue::tellNews);
    if (news.isAsked) {
      stop();
    }
    if (isStopAsked || hasToWrite()) {
      queue.claims().ask();
    }
    return news.messages.size() + news.heldLanes.size();
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
   * @param isWanted whether somebody here wants sessions, and the other one is to stop
   */
  void meet(String reader, boolean isWanted) {
    if (reader.equals(queue.node().id())) {
      if (!isReading()) {
        // The answer that it had begun was lost.
        table.forgetOwn();
        queue.claims().ask();
      }
      return;
    }
    long now = time.nanoTime();
    notBefore = now + ALONE.toNanos();
    if (isWanted && now - metAt > MEET_AGAIN_NANOS) {
      metAt = now;
      table.ask();
      queue.tellOthers();
    }
  }

  /** Where most sessions need a lane anyway, carrying them costs more than it saves. */
  private void judge() {
    long taken = sessions.taken() - judgedAt;
    if (taken >= JUDGE_AFTER && from > 0) {
      if (unusual.get() * MOST_UNUSUAL_PART > taken) {
        isStopAsked = true;
        notBefore = time.nanoTime() + NOT_WORTH_IT.toNanos();
      }
      judgedAt += taken;
      unusual.set(0);
    }
  }

  private long heldBefore(Reading current) {
    return time.nanoTime() - CarriedSessions.longHold(current.lease()).toNanos();
  }

  /** Writes down what must be; false when this was the end. */
  private boolean write(Reading current, boolean ends) {
    boolean all = ends || isAllAsked;
    isAllAsked = false;
    var chosen = sessions.toWrite(all, heldBefore(current));
    if (chosen.isEmpty() && !ends) {
      return true;
    }
    Optional<Map<SessionId, Instant>> leaseEnds;
    try {
      leaseEnds =
          table.writeDown(
              current.epoch(),
              lines(chosen),
              ends ? Optional.of(current.knownTo()) : Optional.empty());
    } catch (RuntimeException e) {
      sessions.notWritten(chosen);
      throw e;
    }
    if (leaseEnds.isEmpty()) {
      lose();
      return false;
    }
    sessions.written(chosen, leaseEnds.get());
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
    sessions.lose();
    stop();
  }

  private void end() {
    reading = null;
    isStopAsked = false;
    queue.tellOthers();
  }
}
