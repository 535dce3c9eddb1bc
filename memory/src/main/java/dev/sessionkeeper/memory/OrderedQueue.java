package dev.sessionkeeper.memory;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.spi.ResumableSessions;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A queue with sessions.
 *
 * <p>Each session is a {@link Lane} with a lock of its own, so owners of different sessions do not
 * contend when they receive and settle; they contend at the {@link Turnstile} when they accept or
 * release a session. One counter gives the epochs of the whole queue, so epochs grow for every
 * session, even if it was empty and forgotten in between.
 */
final class OrderedQueue implements MemoryQueue, ResumableSessions {
  final SettleMessages settleMessages;
  private final QueueBooks books;
  private final Ticks ticks;
  private final Turnstile turnstile;
  private final ConcurrentHashMap<SessionId, Lane> lanes = new ConcurrentHashMap<>();
  private volatile boolean closed;

  OrderedQueue(QueueBooks books) {
    this.books = books;
    this.ticks = books.ticks;
    this.turnstile = new Turnstile(ticks, this::runDue);
    this.settleMessages = new SettleMessages(books);
  }

  @Override
  public QueueBooks books() {
    return books;
  }

  Ticks ticks() {
    return ticks;
  }

  Collection<Lane> lanes() {
    return lanes.values();
  }

  int readyCount() {
    return turnstile.readyCount();
  }

  @Override
  public List<SendOutcome> send(List<Message> messages) {
    return books.take(messages, this::store);
  }

  @Override
  public int replay(Selection selection) {
    return books.replay(selection, this::putBack);
  }

  @Override
  public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
    var taken = takeNext(owner);
    if (taken.isPresent() || wait.isZero()) {
      return resultOf(taken);
    }
    try (var waiter = new Waiter(ticks, wait)) {
      try {
        while (taken.isEmpty() && !waiter.isTimedOut()) {
          if (turnstile.queueUp(waiter)) {
            waiter.await();
          }
          taken = takeNext(owner);
        }
      } finally {
        turnstile.leave(waiter);
        if (taken.isEmpty()) {
          turnstile.wakeAnother();
        }
      }
    }
    return resultOf(taken);
  }

  private static AcceptResult resultOf(Optional<HeldSession> taken) {
    return taken.isPresent()
        ? new AcceptResult.Accepted(taken.get())
        : new AcceptResult.NoSession();
  }

  private Optional<HeldSession> takeNext(Owner owner) {
    requireOpen();
    long now = ticks.now();
    runDue(now);
    for (var next = turnstile.takeFirst(); next.isPresent(); next = turnstile.takeFirst()) {
      var lane = next.get().lane();
      lane.lock.lock();
      try {
        turnstile.arrived(next.get());
        if (!lane.isFreeToTake(now)) {
          // A message may have arrived after the clock was read.
          now = ticks.now();
        }
        if (lane.isFreeToTake(now)) {
          return Optional.of(take(lane, owner, epochFor(lane, next.get()), now));
        }
        // Between the turnstile and the lane's lock the lane may have changed.
        look(lane, now);
      } finally {
        lane.lock.unlock();
      }
    }
    return Optional.empty();
  }

  @Override
  public AcceptResult accept(SessionId session, Owner owner, Duration wait)
      throws InterruptedException {
    var result = acceptNow(session, owner, Optional.empty());
    if (wait.isZero() || !(result instanceof AcceptResult.NoSession)) {
      return result;
    }
    try (var waiter = new Waiter(ticks, wait)) {
      try {
        while (result instanceof AcceptResult.NoSession && !waiter.isTimedOut()) {
          result = acceptNow(session, owner, Optional.of(waiter));
          if (result instanceof AcceptResult.NoSession) {
            waiter.await();
          }
        }
        return result instanceof AcceptResult.NoSession
            ? acceptNow(session, owner, Optional.empty())
            : result;
      } finally {
        stopWaitingFor(session, waiter);
      }
    }
  }

  private AcceptResult acceptNow(SessionId session, Owner owner, Optional<Waiter> waiter) {
    requireOpen();
    runDue();
    if (waiter.isEmpty() && !lanes.containsKey(session)) {
      return new AcceptResult.NoSession();
    }
    var lane = locked(session);
    try {
      // A session that a consumer waits for is not forgotten, even if it is empty.
      waiter.ifPresent(w -> waitFor(lane, w));
      long now = ticks.now();
      look(lane, now);
      if (lane.held) {
        return new AcceptResult.Locked(lane.lockedUntil(ticks));
      }
      if (lane.aside != null) {
        return new AcceptResult.SetAside(
            lane.aside.status(), lane.aside.reason(), lane.aside.since());
      }
      return lane.isFreeToTake(now)
          ? new AcceptResult.Accepted(take(lane, owner, turnstile.nextEpoch(), now))
          : new AcceptResult.NoSession();
    } finally {
      lane.lock.unlock();
    }
  }

  private static void waitFor(Lane lane, Waiter waiter) {
    if (lane.acceptors == null) {
      lane.acceptors = new WaitList();
    }
    lane.acceptors.add(waiter);
  }

  private void stopWaitingFor(SessionId session, Waiter waiter) {
    var lane = locked(session);
    try {
      if (lane.acceptors != null) {
        lane.acceptors.remove(waiter);
      }
      look(lane, ticks.now());
      if (lane.isFreeToTake(ticks.now()) && (lane.acceptors == null || !lane.acceptors.wakeOne())) {
        // This consumer may have been woken for the session and then interrupted: wake another one.
        turnstile.wakeAnother();
      }
    } finally {
      lane.lock.unlock();
    }
  }

  @Override
  public Optional<HeldSession> resume(SessionId session, long epoch) {
    requireOpen();
    var lane = lanes.get(session);
    if (lane == null) {
      return Optional.empty();
    }
    lane.lock.lock();
    try {
      return lane.isHeldUnder(epoch, ticks.now()) && lane.owner != null
          ? Optional.of(new MemoryHeldSession(this, lane, lane.owner, true))
          : Optional.empty();
    } finally {
      lane.lock.unlock();
    }
  }

  @Override
  public HeldSession handle(SessionId session, long epoch) {
    return resume(session, epoch)
        .orElseThrow(() -> new KeeperException.LockLost("session " + session, epoch));
  }

  @Override
  public boolean hasReadySession() {
    if (turnstile.readyCount() == 0) {
      runDue();
    }
    return turnstile.readyCount() > 0;
  }

  /** Runs everything that is due. Called by the timer, and before reads of what is ready. */
  @Override
  public void runDue() {
    runDue(ticks.now());
  }

  private void runDue(long now) {
    if (!turnstile.isDue(now)) {
      return;
    }
    for (var lane : turnstile.takeDue(now)) {
      lane.lock.lock();
      try {
        look(lane, now);
      } finally {
        lane.lock.unlock();
      }
    }
  }

  @Override
  public QueueStats stats() {
    return new InspectSessions(this).stats();
  }

  @Override
  public long purge() {
    long purged = 0;
    for (var lane : lanes.values()) {
      lane.lock.lock();
      try {
        release(lane);
        for (; !lane.messages.isEmpty(); purged++) {
          lane.removeHead();
          books.left();
        }
        lane.aside = null;
        lane.thawUnlessAside(ticks.now());
        place(lane, ticks.now());
      } finally {
        lane.lock.unlock();
      }
    }
    return purged;
  }

  /** Ends an expired lease, and moves the lane to where it belongs. */
  void look(Lane lane, long now) {
    endIfRunOut(lane, now);
    place(lane, now);
  }

  void endIfRunOut(Lane lane, long now) {
    if (lane.held && lane.leaseEnd <= now) {
      settleMessages.leaseRanOut(lane, now);
    }
  }

  /** Takes the lane from its owner; open deliveries become void without counting an attempt. */
  void release(Lane lane) {
    if (lane.held) {
      lane.free();
    }
  }

  /** Moves a lane to where it belongs after a change. The caller holds its lock. */
  void place(Lane lane, long now) {
    if (lane.gone) {
      return;
    }
    if (lane.held) {
      placeHeld(lane, now);
    } else if (lane.aside != null) {
      turnstile.away(lane, Ticks.NEVER);
    } else {
      placeFree(lane, now);
    }
  }

  private void placeHeld(Lane lane, long now) {
    long next = lane.leaseEnd;
    if (lane.receivers != null && !lane.receivers.isEmpty()) {
      if (lane.hasWork(now)) {
        lane.receivers.wakeAll();
      } else if (lane.handed < lane.messages.size()) {
        next = Math.min(next, lane.messages.get(lane.handed).dueAt);
      }
    }
    turnstile.away(lane, next);
  }

  private void placeFree(Lane lane, long now) {
    while (!lane.messages.isEmpty() && lane.expiryOf(lane.messages.get(0)) <= now) {
      settleMessages.expire(lane, 0);
    }
    if (lane.leavesNothing()) {
      lane.gone = true;
      lanes.remove(lane.id, lane);
      turnstile.forget(lane);
    } else if (lane.messages.isEmpty()) {
      turnstile.away(lane, Ticks.NEVER);
    } else {
      var head = lane.messages.get(0);
      if (head.dueAt > now) {
        turnstile.away(lane, Math.min(head.dueAt, lane.expiryOf(head)));
      } else {
        turnstile.ready(lane, lane.expiryOf(head), leaseEnd(now));
      }
    }
  }

  private long leaseEnd(long now) {
    return Ticks.later(now, books.settings().lockDuration());
  }

  /**
   * Returns the epoch drawn with the place in the row, or a new one if another owner has held the
   * session since: an epoch must grow with every hold.
   */
  private long epochFor(Lane lane, Turnstile.Taken taken) {
    return taken.epoch() > lane.epoch ? taken.epoch() : turnstile.nextEpoch();
  }

  private HeldSession take(Lane lane, Owner owner, long epoch, long now) {
    lane.take(owner, epoch, now, leaseEnd(now));
    place(lane, now);
    return new MemoryHeldSession(this, lane, owner, false);
  }

  private void store(Stored stored, long now) {
    var lane = locked(stored.message.session().orElseThrow());
    try {
      lane.add(stored, now);
      place(lane, now);
    } finally {
      lane.lock.unlock();
    }
  }

  private void putBack(Stored stored, long now) {
    var lane = locked(stored.message.session().orElseThrow());
    try {
      lane.putBack(stored, now);
      place(lane, now);
    } finally {
      lane.lock.unlock();
    }
  }

  /**
   * Returns the lane of a session, created if there is none, with its lock held. The caller unlocks
   * it.
   */
  @SuppressWarnings("LockNotBeforeTry") // The caller unlocks it.
  Lane locked(SessionId session) {
    while (true) {
      var lane = lanes.computeIfAbsent(session, Lane::new);
      lane.lock.lock();
      if (!lane.gone) {
        return lane;
      }
      lane.lock.unlock();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw books.ended();
    }
  }

  @Override
  public void close() {
    closed = true;
    turnstile.close();
    for (var lane : lanes.values()) {
      lane.lock.lock();
      try {
        release(lane);
        if (lane.acceptors != null) {
          lane.acceptors.wakeAll();
        }
      } finally {
        lane.lock.unlock();
      }
    }
  }
}
