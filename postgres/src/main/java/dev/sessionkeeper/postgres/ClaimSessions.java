package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.store.Pace;
import dev.sessionkeeper.store.StoreThreads;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes sessions for everybody in this process who waits for one: one round trip finds new
 * messages, claims as many lanes as there are waiters, and brings their first messages.
 *
 * <p>Rounds run one after the other, and only while somebody has asked for one: a new waiter, a
 * send, a notification, a timer. I1: who asks takes part in a round that begins after it asked, so
 * it sees everything whose send returned before. I2: a lane that was claimed for a waiter who is
 * gone goes to the next one or is given back.
 */
final class ClaimSessions implements PollRequests {
  private static final int MOST_LANES = 256;

  /** Sessions of one round that mean load. */
  private static final int MANY = 8;

  /** Of a round in which nothing was found that could be handed out. */
  private static final int MOST_PAGES = 16;

  private static final Duration PACE = Duration.ofNanos(500_000);
  private static final long WAKE_EVERY_NANOS = Duration.ofMillis(200).toNanos();

  private final QueueContext queue;
  private final HoldParts parts;
  private final Polling polling;
  private final ReadAlone reader;
  private final TimeSource time;
  private final LastRound last;
  private final LaneTable lanes;
  private final int batch;
  private final Pace pace;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Acceptor> acceptors = new ArrayDeque<>();
  private List<CompletableFuture<Void>> joiners = new ArrayList<>();
  private boolean running;
  private boolean asked;
  private volatile boolean isUnderLoad;
  private volatile long wokenAt;

  /** When the first lane is due that this process knows of. */
  private final FirstDue due = new FirstDue();

  private int newsTold;

  ClaimSessions(HoldParts parts, ReadAlone reader) {
    this.queue = parts.queue();
    this.parts = parts;
    this.polling = parts.polling();
    this.reader = reader;
    this.time = queue.time();
    this.last = polling.last();
    this.lanes = new LaneTable(queue, parts.room());
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

  Acceptor add(Owner owner) {
    var acceptor = new Acceptor(owner);
    var carried = reader.take(owner);
    if (carried != null) {
      acceptor.offer(carried);
      return acceptor;
    }
    lock.lock();
    try {
      acceptors.add(acceptor);
      askForRound();
    } finally {
      lock.unlock();
    }
    return acceptor;
  }

  void remove(Acceptor acceptor) {
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
      askForRound();
    } finally {
      lock.unlock();
    }
    return joiner;
  }

  /** Completes when the rounds that run now are over; at once where none does. */
  CompletableFuture<Void> joinRunning() {
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
        askForRound();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void ask() {
    lock.lock();
    try {
      askForRound();
    } finally {
      lock.unlock();
    }
  }

  private void askForRound() {
    asked = true;
    if (!running) {
      running = true;
      boolean isStarted = false;
      try {
        startRounds();
        isStarted = true;
      } finally {
        running = isStarted;
      }
    }
  }

  private void startRounds() {
    StoreThreads.start("keeper-claim-" + queue.name(), isUnderLoad, this::runRounds);
  }

  /** Everybody who waits goes away empty-handed. */
  void close() {
    lock.lock();
    try {
      acceptors.forEach(
          acceptor -> acceptor.fail(new KeeperException.Closed("Queue " + queue.name())));
      acceptors.clear();
    } finally {
      lock.unlock();
    }
  }

  private void runRounds() {
    while (isAsked()) {
      List<Acceptor> waiting = List.of();
      List<CompletableFuture<Void>> joining = List.of();
      try {
        pace.begin();
        lock.lock();
        try {
          asked = false;
          waiting = acceptors.stream().limit(MOST_LANES).toList();
          joining = joiners;
          joiners = new ArrayList<>();
        } finally {
          lock.unlock();
        }
        int served = round(waiting);
        if (last.isReadyLeft() && !reader.isReading()) {
          pace.end(); // Work waits for those who come, not the other way round.
        } else {
          pace.end(served, last.areSendersHeldUp() && joining.isEmpty());
        }
        isUnderLoad = served >= MANY;
        joining.forEach(joiner -> joiner.complete(null));
      } catch (RuntimeException e) {
        fail(waiting, joining, e);
      } catch (Error e) {
        // Whoever waits is told, and the next who asks has a round: this thread must not end here.
        fail(
            waiting,
            joining,
            new IllegalStateException("A round of " + queue.name() + " failed", e));
      }
      if (isUnderLoad && StoreThreads.isTooLight()) {
        startRounds();
        return;
      }
    }
  }

  private void fail(
      List<Acceptor> waiting, List<CompletableFuture<Void>> joining, RuntimeException e) {
    joining.forEach(joiner -> joiner.completeExceptionally(e));
    waiting.forEach(
        acceptor -> {
          remove(acceptor);
          acceptor.fail(e);
        });
  }

  /** Whether another round is wanted; if not, whoever asks next starts the rounds again. */
  private boolean isAsked() {
    lock.lock();
    try {
      running = asked;
      return asked;
    } finally {
      lock.unlock();
    }
  }

  /** How many lanes were served or had news. */
  private int round(List<Acceptor> waiting) {
    newsTold = 0;
    if (!waiting.isEmpty()) {
      reader.beginAtOnce();
    }
    int served = reader.isReading() ? read(waiting) : -1;
    if (served < 0) {
      served = claim(waiting);
      for (int page = 1;
          last.areBundlesLeft() && page < MOST_PAGES && !left(waiting).isEmpty();
          page++) {
        served += claim(left(waiting));
      }
      if (last.readBy().isEmpty()) {
        reader.tookLanes(served);
      } else {
        reader.wasGivenLanes(served);
      }
    }
    boolean dueToWake = time.nanoTime() - wokenAt >= WAKE_EVERY_NANOS || isLaneDue();
    if ((dueToWake || isAnybodyNew(waiting)) && wakeLanes() > 0) {
      var left = left(waiting);
      if (!left.isEmpty()) {
        claim(left);
      }
    }
    if (served == MOST_LANES) {
      ask();
    }
    waiting.forEach(Acceptor::tookPart);
    return served + newsTold;
  }

  private static List<Acceptor> left(List<Acceptor> waiting) {
    return waiting.stream().filter(acceptor -> !acceptor.isDone()).toList();
  }

  /** A round of a process that reads alone; -1 when it does not, after all. */
  private int read(List<Acceptor> waiting) {
    long askedAt = last.begins();
    int news = reader.round();
    for (int page = 1; news >= 0 && page < MOST_PAGES && reader.needsNextPage(); page++) {
      news = reader.round();
    }
    if (news < 0) {
      return -1;
    }
    last.read();
    last.told(askedAt);
    serveCached();
    last.isReadyLeft(reader.isLaneNext());
    if (last.isReadyLeft()) {
      var left = left(waiting);
      if (!left.isEmpty()) {
        claim(left);
        reader.lanesLeft(last.isReadyLeft());
        serveCached();
      }
    }
    reader.want(left(waiting).size());
    reader.beatEvery().ifPresent(polling.timer()::fireWithin);
    return news;
  }

  @Override
  public void serveCached() {
    var unwanted = new ArrayList<HeldLane>();
    lock.lock();
    try {
      while (!acceptors.isEmpty()) {
        var carried = reader.take(acceptors.getFirst().owner());
        if (carried == null) {
          break;
        }
        if (!acceptors.removeFirst().offer(carried)) {
          unwanted.add(carried);
        }
      }
    } finally {
      lock.unlock();
    }
    unwanted.forEach(HeldLane::giveBackUnused);
  }

  /** Whoever came lately and got nothing must see leases that ran out before it came. */
  private static boolean isAnybodyNew(List<Acceptor> waiting) {
    return waiting.stream().anyMatch(acceptor -> !acceptor.isDone() && acceptor.isNew());
  }

  @Override
  public void makeDueWithin(Duration delay) {
    long at = time.nanoTime() + delay.toNanos();
    // Not the lock of the rounds: callers have locks of their own.
    synchronized (due) {
      due.add(at);
    }
    polling.timer().fireWithin(delay);
  }

  private boolean isLaneDue() {
    synchronized (due) {
      return due.isReached(time.nanoTime());
    }
  }

  @Override
  public void makeDueNow() {
    if (wakeLanes() > 0) {
      wake();
    }
  }

  private int wakeLanes() {
    wokenAt = time.nanoTime();
    synchronized (due) {
      due.clear(); // The statement tells what is due next.
    }
    var woken = lanes.wake();
    woken.next().ifPresent(this::makeDueWithin);
    return woken.count();
  }

  private int claim(List<Acceptor> waiting) {
    long askedAt = last.begins();
    // Without room for bodies nothing is taken; whoever makes room lets the alarm ring.
    boolean isRoom = parts.room().bytes() > 0;
    var result = lanes.claim(isRoom ? waiting.stream().map(Acceptor::owner).toList() : List.of(), batch);
    var summary = result.summary;
    last.claimed(summary);
    if (summary.left().areBatches() && (!waiting.isEmpty() || polling.receivers().isAnyWaiting())) {
      ask();
    }
    summary.nextDue().ifPresent(due -> makeDueWithin(Duration.between(summary.moment(), due)));
    if (summary.left().areLocked()) {
      polling.timer().fireWithin(Polling.RETRY_LOCKED);
    }
    result.news.forEach(parts.owned()::tellNews);
    newsTold += result.news.size();
    last.told(askedAt);
    int served = 0;
    var next = waiting.iterator();
    for (var lane : result.sessions.values()) {
      var held = HeldLane.claimed(parts, lane, summary.moment(), askedAt, batch);
      if (held.isWorthServing() && serve(held, next)) {
        served++;
      } else {
        held.giveBackUnused();
        if (lane.isCut()) {
          ask(); // There was no room for its first message.
        }
      }
    }
    summary.reader().ifPresent(other -> reader.meet(other, left(waiting).size()));
    return served;
  }

  private boolean serve(HeldLane held, java.util.Iterator<Acceptor> waiting) {
    parts.owned().add(held);
    while (waiting.hasNext()) {
      var acceptor = waiting.next();
      remove(acceptor);
      if (acceptor.offer(held)) {
        return true;
      }
    }
    return false;
  }

  /** The earliest of some moments. */
  private static final class FirstDue {
    private long at;
    private boolean isKnown;

    void add(long moment) {
      if (!isKnown || moment - at < 0) {
        isKnown = true;
        at = moment;
      }
    }

    boolean isReached(long now) {
      return isKnown && now - at >= 0;
    }

    void clear() {
      isKnown = false;
    }
  }
}
