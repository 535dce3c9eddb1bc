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
 * <p>Each session is a {@link SessionEntry} with a lock of its own, so owners of different sessions
 * do not contend when they receive and settle; they contend at the {@link Turnstile} when they
 * accept or release a session. One counter gives the epochs of the whole queue, so epochs grow for
 * every session, even if it was empty and forgotten in between.
 */
final class OrderedQueue implements MemoryQueue, ResumableSessions {
  final SettleMessages settleMessages;
  private final QueueBooks books;
  private final Ticks ticks;
  private final Turnstile turnstile;
  private final ConcurrentHashMap<SessionId, SessionEntry> entries = new ConcurrentHashMap<>();
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

  Collection<SessionEntry> entries() {
    return entries.values();
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
      var entry = next.get().entry();
      entry.lock.lock();
      try {
        turnstile.arrived(next.get());
        if (!entry.isFreeToTake(now)) {
          // A message may have arrived after the clock was read.
          now = ticks.now();
        }
        if (entry.isFreeToTake(now)) {
          return Optional.of(take(entry, owner, epochFor(entry, next.get()), now));
        }
        // Between the turnstile and the session's lock the session may have changed.
        look(entry, now);
      } finally {
        entry.lock.unlock();
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
    if (waiter.isEmpty() && !entries.containsKey(session)) {
      return new AcceptResult.NoSession();
    }
    var entry = locked(session);
    try {
      // A session that a consumer waits for is not forgotten, even if it is empty.
      waiter.ifPresent(w -> waitFor(entry, w));
      long now = ticks.now();
      look(entry, now);
      if (entry.held) {
        return new AcceptResult.Locked(entry.lockedUntil(ticks));
      }
      if (entry.aside != null) {
        return new AcceptResult.SetAside(
            entry.aside.status(), entry.aside.reason(), entry.aside.since());
      }
      return entry.isFreeToTake(now)
          ? new AcceptResult.Accepted(take(entry, owner, turnstile.nextEpoch(), now))
          : new AcceptResult.NoSession();
    } finally {
      entry.lock.unlock();
    }
  }

  private static void waitFor(SessionEntry entry, Waiter waiter) {
    if (entry.acceptors == null) {
      entry.acceptors = new WaitList();
    }
    entry.acceptors.add(waiter);
  }

  private void stopWaitingFor(SessionId session, Waiter waiter) {
    var entry = locked(session);
    try {
      if (entry.acceptors != null) {
        entry.acceptors.remove(waiter);
      }
      look(entry, ticks.now());
      if (entry.isFreeToTake(ticks.now())
          && (entry.acceptors == null || !entry.acceptors.wakeOne())) {
        // This consumer may have been woken for the session and then interrupted: wake another one.
        turnstile.wakeAnother();
      }
    } finally {
      entry.lock.unlock();
    }
  }

  @Override
  public Optional<HeldSession> resume(SessionId session, long epoch) {
    requireOpen();
    var entry = entries.get(session);
    if (entry == null) {
      return Optional.empty();
    }
    entry.lock.lock();
    try {
      return entry.isHeldUnder(epoch, ticks.now()) && entry.owner != null
          ? Optional.of(new MemoryHeldSession(this, entry, entry.owner, true))
          : Optional.empty();
    } finally {
      entry.lock.unlock();
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

  /**
   * Applies expired leases, due retries and expired messages. The timer calls this, and so does
   * every read of ready sessions.
   */
  @Override
  public void runDue() {
    runDue(ticks.now());
  }

  private void runDue(long now) {
    if (!turnstile.isDue(now)) {
      return;
    }
    for (var entry : turnstile.takeDue(now)) {
      entry.lock.lock();
      try {
        look(entry, now);
      } finally {
        entry.lock.unlock();
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
    for (var entry : entries.values()) {
      entry.lock.lock();
      try {
        release(entry);
        for (; !entry.messages.isEmpty(); purged++) {
          entry.removeHead();
          books.left();
        }
        entry.aside = null;
        entry.resumeTtlUnlessAside(ticks.now());
        place(entry, ticks.now());
      } finally {
        entry.lock.unlock();
      }
    }
    return purged;
  }

  /**
   * Ends the session's lease if it has expired, and registers the session as ready, waiting or
   * gone, according to its messages.
   */
  void look(SessionEntry entry, long now) {
    endIfRunOut(entry, now);
    place(entry, now);
  }

  void endIfRunOut(SessionEntry entry, long now) {
    if (entry.held && entry.leaseEnd <= now) {
      settleMessages.leaseRanOut(entry, now);
    }
  }

  /** Takes the session from its owner; open deliveries become void without counting an attempt. */
  void release(SessionEntry entry) {
    if (entry.held) {
      entry.free();
    }
  }

  /**
   * Registers a session as ready, waiting or gone, according to its messages, after they changed.
   * The caller holds its lock.
   */
  void place(SessionEntry entry, long now) {
    if (entry.gone) {
      return;
    }
    if (entry.held) {
      placeHeld(entry, now);
    } else if (entry.aside != null) {
      turnstile.away(entry, Ticks.NEVER);
    } else {
      placeFree(entry, now);
    }
  }

  private void placeHeld(SessionEntry entry, long now) {
    long next = entry.leaseEnd;
    if (entry.receivers != null && !entry.receivers.isEmpty()) {
      if (entry.hasWork(now)) {
        entry.receivers.wakeAll();
      } else if (entry.handed < entry.messages.size()) {
        next = Math.min(next, entry.messages.get(entry.handed).dueAt);
      }
    }
    turnstile.away(entry, next);
  }

  private void placeFree(SessionEntry entry, long now) {
    while (!entry.messages.isEmpty() && entry.expiryOf(entry.messages.get(0)) <= now) {
      settleMessages.expire(entry, 0);
    }
    if (entry.leavesNothing()) {
      entry.gone = true;
      entries.remove(entry.id, entry);
      turnstile.forget(entry);
    } else if (entry.messages.isEmpty()) {
      turnstile.away(entry, Ticks.NEVER);
    } else {
      var head = entry.messages.get(0);
      if (head.dueAt > now) {
        turnstile.away(entry, Math.min(head.dueAt, entry.expiryOf(head)));
      } else {
        turnstile.ready(entry, entry.expiryOf(head), leaseEnd(now));
      }
    }
  }

  private long leaseEnd(long now) {
    return Ticks.later(now, books.settings().lockDuration());
  }

  /**
   * Returns the epoch that was drawn together with the place among the ready sessions, or a new one
   * if another owner has held the session since: an epoch must grow with every hold.
   */
  private long epochFor(SessionEntry entry, Turnstile.Taken taken) {
    return taken.epoch() > entry.epoch ? taken.epoch() : turnstile.nextEpoch();
  }

  private HeldSession take(SessionEntry entry, Owner owner, long epoch, long now) {
    entry.take(owner, epoch, now, leaseEnd(now));
    place(entry, now);
    return new MemoryHeldSession(this, entry, owner, false);
  }

  private void store(Stored stored, long now) {
    var entry = locked(stored.message.session().orElseThrow());
    try {
      entry.add(stored, now);
      place(entry, now);
    } finally {
      entry.lock.unlock();
    }
  }

  private void putBack(Stored stored, long now) {
    var entry = locked(stored.message.session().orElseThrow());
    try {
      entry.putBack(stored, now);
      place(entry, now);
    } finally {
      entry.lock.unlock();
    }
  }

  /**
   * Returns the entry of a session, created if there is none, with its lock held. The caller
   * unlocks it.
   */
  @SuppressWarnings("LockNotBeforeTry") // The caller unlocks it.
  SessionEntry locked(SessionId session) {
    while (true) {
      var entry = entries.computeIfAbsent(session, SessionEntry::new);
      entry.lock.lock();
      if (!entry.gone) {
        return entry;
      }
      entry.lock.unlock();
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
    for (var entry : entries.values()) {
      entry.lock.lock();
      try {
        release(entry);
        if (entry.acceptors != null) {
          entry.acceptors.wakeAll();
        }
      } finally {
        entry.lock.unlock();
      }
    }
  }
}
