package dev.sessionkeeper.postgres.claim;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.postgres.lease.HoldParts;
import dev.sessionkeeper.postgres.lease.OwnedSession;
import dev.sessionkeeper.postgres.lease.OwnedSessions;
import dev.sessionkeeper.postgres.poll.LastPoll;
import dev.sessionkeeper.postgres.poll.PollRequests;
import dev.sessionkeeper.postgres.poll.Polling;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.read.ReadBuckets;
import dev.sessionkeeper.store.Pace;
import dev.sessionkeeper.store.StoreThreads;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Gives sessions to the waiting consumers of this process. One poll finds new messages, claims a
 * session for each waiting consumer, and brings the first messages.
 *
 * <p>Polls run one after the other, and only on request: of a new consumer, a send, a notification
 * or a timer. I1: a request is answered by a poll that begins after it, so that poll sees every
 * message whose send returned before. I2: a session that was claimed for a consumer that has gone
 * is given to the next one, or back.
 */
public final class ClaimSessions implements PollRequests {
  private static final int MOST_SESSIONS = 256;

  /** The number of sessions in one poll that counts as load. */
  private static final int MANY = 8;

  /** The most pages that one poll reads without finding a message to deliver. */
  private static final int MOST_PAGES = 16;

  private static final Duration PACE = Duration.ofNanos(500_000);
  private static final long WAKE_EVERY_NANOS = Duration.ofMillis(200).toNanos();

  private final QueueContext queue;
  private final HoldParts parts;
  private final OwnedSessions owned;
  private final Polling polling;
  private final ReadBuckets reader;
  private final TimeSource time;
  private final LastPoll last;
  private final SessionTable table;
  private final int batch;
  private final Pace pace;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<WaitingConsumer> acceptors = new ArrayDeque<>();
  private List<CompletableFuture<Void>> joiners = new ArrayList<>();
  private boolean running;
  private boolean asked;
  private volatile boolean isUnderLoad;
  private volatile long wokenAt;

  /** The earliest time at which a session becomes due, as far as this process knows. */
  private final FirstDue due = new FirstDue();

  private int newsTold;

  public ClaimSessions(HoldParts parts, OwnedSessions owned, ReadBuckets reader) {
    this.queue = parts.queue();
    this.parts = parts;
    this.owned = owned;
    this.polling = parts.polling();
    this.reader = reader;
    this.time = queue.time();
    this.last = polling.last();
    this.table = new SessionTable(queue, parts.room());
    this.batch = parts.room().messages();
    this.pace = Pace.of(time, PACE);
    this.wokenAt = time.nanoTime() - WAKE_EVERY_NANOS;
  }

  @Override
  public boolean isAnybodyWaiting() {
    lock.lock();
    try {
      return !acceptors.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  public WaitingConsumer add(Owner owner) {
    var acceptor = new WaitingConsumer(owner);
    var cached = reader.take(owner);
    if (cached != null) {
      acceptor.offer(cached);
      return acceptor;
    }
    lock.lock();
    try {
      acceptors.add(acceptor);
      askForPoll();
    } finally {
      lock.unlock();
    }
    return acceptor;
  }

  public void remove(WaitingConsumer acceptor) {
    lock.lock();
    try {
      acceptors.remove(acceptor);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletableFuture<Void> join() {
    var joiner = new CompletableFuture<Void>();
    lock.lock();
    try {
      joiners.add(joiner);
      askForPoll();
    } finally {
      lock.unlock();
    }
    return joiner;
  }

  /** Completes when the running polls are over; at once if none runs. */
  public CompletableFuture<Void> joinRunning() {
    lock.lock();
    try {
      return running ? join() : CompletableFuture.completedFuture(null);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void wake() {
    lock.lock();
    try {
      if (!acceptors.isEmpty() || polling.receivers().isAnyWaiting() || reader.isReading()) {
        askForPoll();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void ask() {
    lock.lock();
    try {
      askForPoll();
    } finally {
      lock.unlock();
    }
  }

  private void askForPoll() {
    asked = true;
    if (!running) {
      running = true;
      boolean isStarted = false;
      try {
        startPolls();
        isStarted = true;
      } finally {
        running = isStarted;
      }
    }
  }

  private void startPolls() {
    StoreThreads.start("keeper-claim-" + queue.name(), isUnderLoad, this::runPolls);
  }

  /** Refuses all waiting consumers. */
  public void close() {
    lock.lock();
    try {
      acceptors.forEach(
          acceptor -> acceptor.fail(new KeeperException.Closed("Queue " + queue.name())));
      acceptors.clear();
    } finally {
      lock.unlock();
    }
  }

  private void runPolls() {
    while (isAsked()) {
      List<WaitingConsumer> waiting = List.of();
      List<CompletableFuture<Void>> joining = List.of();
      try {
        pace.begin();
        lock.lock();
        try {
          asked = false;
          waiting = acceptors.stream().limit(MOST_SESSIONS).toList();
          joining = joiners;
          joiners = new ArrayList<>();
        } finally {
          lock.unlock();
        }
        int served = poll(waiting);
        if (last.isReadyLeft() && !reader.isReading()) {
          pace.end(); // Sessions wait for consumers, so the next consumer must not wait.
        } else {
          pace.end(served, last.areSendersHeldUp() && joining.isEmpty());
        }
        isUnderLoad = served >= MANY;
        joining.forEach(joiner -> joiner.complete(null));
      } catch (RuntimeException e) {
        fail(waiting, joining, e);
      } catch (Error e) {
        // All waiting consumers get the failure. This thread continues with the next request.
        fail(
            waiting,
            joining,
            new IllegalStateException("A round of " + queue.name() + " failed", e));
      }
      if (isUnderLoad && StoreThreads.isTooLight()) {
        startPolls();
        return;
      }
    }
  }

  private void fail(
      List<WaitingConsumer> waiting, List<CompletableFuture<Void>> joining, RuntimeException e) {
    joining.forEach(joiner -> joiner.completeExceptionally(e));
    waiting.forEach(
        acceptor -> {
          remove(acceptor);
          acceptor.fail(e);
        });
  }

  /** Returns whether another poll was requested. If not, the next request starts a thread again. */
  private boolean isAsked() {
    lock.lock();
    try {
      running = asked;
      return asked;
    } finally {
      lock.unlock();
    }
  }

  /** Polls once, and returns how many sessions were given out or had new messages. */
  private int poll(List<WaitingConsumer> waiting) {
    newsTold = 0;
    if (!waiting.isEmpty()) {
      reader.beginAtOnce();
    }
    int served = reader.isReading() ? read(waiting) : -1;
    if (served < 0) {
      served = claim(waiting);
      for (int page = 1;
          last.areBatchesLeft() && page < MOST_PAGES && !left(waiting).isEmpty();
          page++) {
        served += claim(left(waiting));
      }
      if (last.readBy().isEmpty()) {
        reader.claimedRows(served);
      } else {
        reader.claimedRowsOfOthers(served);
      }
    }
    boolean dueToWake = time.nanoTime() - wokenAt >= WAKE_EVERY_NANOS || isLaneDue();
    if ((dueToWake || isAnybodyNew(waiting)) && makeDue() > 0) {
      var left = left(waiting);
      if (!left.isEmpty()) {
        claim(left);
      }
    }
    armDue();
    if (served == MOST_SESSIONS) {
      ask();
    }
    waiting.forEach(WaitingConsumer::tookPart);
    return served + newsTold;
  }

  private static List<WaitingConsumer> left(List<WaitingConsumer> waiting) {
    return waiting.stream().filter(acceptor -> !acceptor.isDone()).toList();
  }

  /** Polls as a reader. Returns -1 if this process does not read, or not any more. */
  private int read(List<WaitingConsumer> waiting) {
    long askedAt = last.begins();
    int news = reader.poll();
    for (int page = 1; news >= 0 && page < MOST_PAGES && reader.needsNextPage(); page++) {
      news = reader.poll();
    }
    if (news < 0) {
      return -1;
    }
    last.read();
    last.told(askedAt);
    serveCached();
    last.isReadyLeft(reader.isRowNext());
    if (last.isReadyLeft()) {
      var left = left(waiting);
      if (!left.isEmpty()) {
        claim(left);
        reader.rowsLeft(last.isReadyLeft());
        serveCached();
      }
    }
    reader.want(left(waiting).size());
    reader.heartbeatEvery().ifPresent(polling.timer()::fireWithin);
    return news;
  }

  @Override
  public void serveCached() {
    var unwanted = new ArrayList<OwnedSession>();
    lock.lock();
    try {
      while (!acceptors.isEmpty()) {
        var cached = reader.take(acceptors.getFirst().owner());
        if (cached == null) {
          break;
        }
        if (!acceptors.removeFirst().offer(cached)) {
          unwanted.add(cached);
        }
      }
    } finally {
      lock.unlock();
    }
    unwanted.forEach(OwnedSession::giveBackUnused);
  }

  /**
   * Returns whether a consumer got nothing in its first poll: it must also see leases that ended
   * before it arrived.
   */
  private static boolean isAnybodyNew(List<WaitingConsumer> waiting) {
    return waiting.stream().anyMatch(acceptor -> !acceptor.isDone() && acceptor.isNew());
  }

  @Override
  public void makeDueWithin(Duration delay) {
    long at = time.nanoTime() + delay.toNanos();
    // Not the lock of the polls: callers hold locks of their own.
    synchronized (due) {
      due.add(at);
    }
    polling.timer().fireWithin(delay);
  }

  /**
   * Sets the timer again, because this poll may have served the earliest time, and the timer keeps
   * only that one.
   */
  private void armDue() {
    synchronized (due) {
      due.within(time.nanoTime()).ifPresent(polling.timer()::fireWithin);
    }
  }

  private boolean isLaneDue() {
    synchronized (due) {
      return due.isReached(time.nanoTime());
    }
  }

  @Override
  public void makeDueNow() {
    if (makeDue() > 0) {
      wake();
    }
  }

  private int makeDue() {
    wokenAt = time.nanoTime();
    synchronized (due) {
      due.clear(); // The statement returns the next due time.
    }
    var woken = table.wake();
    woken.next().ifPresent(this::makeDueWithin);
    return woken.count();
  }

  private int claim(List<WaitingConsumer> waiting) {
    long askedAt = last.begins();
    // Without room for payloads nothing is claimed. The timer fires when there is room again.
    boolean isRoom = parts.room().bytes() > 0;
    var result =
        table.claim(
            isRoom ? waiting.stream().map(WaitingConsumer::owner).toList() : List.of(), batch);
    var summary = result.summary;
    last.claimed(summary);
    if (summary.left().areBatches() && (!waiting.isEmpty() || polling.receivers().isAnyWaiting())) {
      ask();
    }
    summary.nextDue().ifPresent(due -> makeDueWithin(Duration.between(summary.moment(), due)));
    if (summary.left().areLocked()) {
      polling.timer().fireWithin(Polling.RETRY_LOCKED);
    }
    result.news.forEach(owned::tellNews);
    newsTold += result.news.size();
    last.told(askedAt);
    int served = 0;
    var next = waiting.iterator();
    for (var claimed : result.sessions.values()) {
      var held = OwnedSession.claimed(parts, owned, claimed, summary.moment(), askedAt);
      if (held.isWorthServing() && serve(held, next)) {
        served++;
      } else {
        held.giveBackUnused();
        if (claimed.isCut()) {
          ask(); // There was no room for its first message.
        }
      }
    }
    summary.reader().ifPresent(other -> reader.meet(other, left(waiting).size()));
    return served;
  }

  private boolean serve(OwnedSession held, java.util.Iterator<WaitingConsumer> waiting) {
    owned.add(held);
    while (waiting.hasNext()) {
      var acceptor = waiting.next();
      remove(acceptor);
      if (acceptor.offer(held)) {
        return true;
      }
    }
    return false;
  }

  /** The earliest of several times. */
  private static final class FirstDue {
    private long at;
    private boolean isKnown;

    void add(long moment) {
      if (!isKnown || moment - at < 0) {
        isKnown = true;
        at = moment;
      }
    }

    Optional<Duration> within(long now) {
      return isKnown ? Optional.of(Duration.ofNanos(Math.max(0, at - now))) : Optional.empty();
    }

    boolean isReached(long now) {
      return isKnown && now - at >= 0;
    }

    void clear() {
      isKnown = false;
    }
  }
}
