package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A queue with sessions, as this process sees it: who waits, what is held, and who does the work.
 */
final class OrderedQueue implements ResumableSessions, LocalQueue {
  private static final long POLL_MILLIS = 1000;

  /** From an eighth of the held sessions on. */
  private static final int LEAST_PART_WAITING = 8;

  private static final long NAMED_LOOK_NANOS = Duration.ofMillis(200).toNanos();
  private static final long NAMED_ASK_NANOS = Duration.ofMillis(20).toNanos();

  private final QueueTable.Known known;
  private final Setup setup;
  private final PartsOfReaders parts;
  private final ConcurrentHashMap<SessionId, HeldLane> held = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Object, CompletableFuture<Void>> givingBack =
      new ConcurrentHashMap<>();
  private final AtomicInteger receivers = new AtomicInteger();
  private final Pulse pulse = new Pulse();
  private final Alarm alarm;
  private final BodyMemory.Share memory;
  private final TransferSize transfers = new TransferSize();
  private final ReadAlone alone;
  private final LastRound lastRound;
  private final ClaimSessions claims;
  private final BringUpToDate upToDate;
  private final AskReader asks;
  private final FetchMessages fetches;
  private final SettleSessions settles;
  private final RenewLeases renewals;
  private final DropUnreceived drops;
  private volatile boolean closed;

  OrderedQueue(QueueTable.Known known, Setup setup, PartsOfReaders parts) {
    this.known = known;
    this.setup = setup;
    this.parts = parts;
    this.alarm = new Alarm(setup.time(), this::poll);
    this.memory = setup.memory().share(() -> alarm.ringWithin(Duration.ZERO));
    this.alone = new ReadAlone(this, setup.options());
    this.lastRound = new LastRound(setup.time());
    this.claims = new ClaimSessions(this, setup.options().prefetch());
    this.upToDate = new BringUpToDate(this);
    this.asks = new AskReader(this);
    this.fetches = new FetchMessages(this);
    this.settles = new SettleSessions(this);
    this.renewals = new RenewLeases(this);
    this.drops = new DropUnreceived(this);
  }

  int id() {
    return known.id();
  }

  QueueName name() {
    return known.name();
  }

  Node node() {
    return setup.node();
  }

  TimeSource time() {
    return setup.time();
  }

  PartsOfReaders parts() {
    return parts;
  }

  Connections connections() {
    return setup.connections();
  }

  /** The bodies of this queue in memory that no handler has yet. */
  BodyMemory.Share memory() {
    return memory;
  }

  /** How large a statement may be that brings bodies. */
  TransferSize transfers() {
    return transfers;
  }

  /** How many bytes of bodies may be read now; zero when there is no room. */
  long roomForBodies() {
    return Math.min(memory.room(), transfers.bytes());
  }

  int batch() {
    return setup.options().prefetch();
  }

  Pulse pulse() {
    return pulse;
  }

  Alarm alarm() {
    return alarm;
  }

  ClaimSessions claims() {
    return claims;
  }

  LastRound lastRound() {
    return lastRound;
  }

  BringUpToDate upToDate() {
    return upToDate;
  }

  AskReader asks() {
    return asks;
  }

  ReadAlone alone() {
    return alone;
  }

  FetchMessages fetches() {
    return fetches;
  }

  SettleSessions settles() {
    return settles;
  }

  RenewLeases renewals() {
    return renewals;
  }

  Collection<HeldLane> heldLanes() {
    return held.values();
  }

  @Override
  public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
    requireOpen();
    setup.listen();
    var acceptor = claims.add(owner);
    pollWithin();
    boolean isServed = false;
    try {
      var lane = acceptor.await(time(), wait);
      isServed = lane.isPresent();
      return isServed ? new AcceptResult.Accepted(lane.get()) : new AcceptResult.NoSession();
    } finally {
      // Who serves has taken it out, and may have the lock for as long as it serves others.
      if (!isServed) {
        claims.remove(acceptor);
      }
    }
  }

  @Override
  public AcceptResult accept(SessionId session, Owner owner, Duration wait)
      throws InterruptedException {
    setup.listen();
    long started = time().nanoTime();
    while (true) {
      requireOpen();
      long seen = pulse.beats();
      // What was sent before must have its lane.
      var answer = asks.forLane(session, false);
      var result =
          answer instanceof AskReader.Answer.Silent silent
              ? new AcceptResult.Locked(silent.until())
              : AcceptByName.accept(this, session, owner);
      long left = wait.toNanos() - (time().nanoTime() - started);
      if (!(result instanceof AcceptResult.NoSession) || left <= 0) {
        return result;
      }
      if (answer instanceof AskReader.Answer.WrittenDown) {
        // Each look costs the reader a statement.
        Thread.sleep(Duration.ofNanos(Math.min(left, NAMED_ASK_NANOS)));
      }
      receiverWaits(1);
      try {
        pulse.await(seen, Math.min(left, NAMED_LOOK_NANOS));
      } finally {
        receiverWaits(-1);
      }
    }
  }

  @Override
  public Optional<HeldSession> resume(SessionId session, long epoch) {
    requireOpen();
    return held(session, epoch)
        .map(HeldLane::share)
        .orElseGet(() -> SharedLane.find(this, session, epoch))
        .map(lane -> lane);
  }

  @Override
  public HeldSession handle(SessionId session, long epoch) {
    requireOpen();
    return held(session, epoch).isPresent()
        ? resume(session, epoch)
            .orElseThrow(() -> new KeeperException.LockLost("session " + session, epoch))
        : SharedLane.unseen(this, session, epoch);
  }

  @Override
  public Map<SessionId, SessionState> states(List<HeldSession> sessions) {
    requireOpen();
    return ReadStates.of(this, sessions);
  }

  @Override
  public boolean hasReadySession() {
    requireOpen();
    if (!lastRound.isRecent()) {
      Waits.join(claims.join());
    }
    return lastRound.isReadyLeft() || lastRound.areBundlesLeft() || alone.hasReady();
  }

  /** Something was sent, or came back: here or elsewhere. */
  @Override
  public void wake() {
    lastRound.changed();
    claims.wake();
    pulse.beat();
  }

  /** While this process reads alone nobody else can take them; when it ends, it says so. */
  @Override
  public void sent(boolean areSendersHeldUp) {
    lastRound.areSendersHeldUp(areSendersHeldUp);
    wake();
    if (!alone.isAlone()) {
      tellOthers();
    }
  }

  /** Another process wants sessions that this one carries. */
  void asked() {
    alone.asked();
    claims.wake();
  }

  /** The process that reads this queue learns that it is asked for sessions. */
  void tellAsked() {
    setup.notifications().asked(id());
  }

  /** Other processes look again. */
  void tellOthers() {
    setup.notifications().sent(id());
  }

  /** A held lane has news: of this process, or of one that must be told. */
  void tellNews(ClaimSessions.News news) {
    if (news.node().equals(node().id())) {
      tellNews(news.session());
    } else {
      setup.notifications().news(news.node(), id(), news.session());
    }
  }

  @Override
  public void tellNews(SessionId session) {
    var lane = held.get(session);
    if (lane != null) {
      lane.tellNews();
    }
    pulse.beat();
  }

  /** An operator may have taken the session. */
  void doubt(SessionId session) {
    var lane = held.get(session);
    if (lane != null) {
      lane.doubt();
    }
  }

  void hold(HeldLane lane) {
    var before = held.put(lane.id(), lane);
    if (before != null && before.epoch() < lane.epoch()) {
      before.superseded();
    }
    drops.start();
  }

  /** Whether senders of this process come as fast as they are answered. */
  boolean areSendersHeldUp() {
    return lastRound.areSendersHeldUp();
  }

  /** Nobody here works, nor waits for work: who is here waits for its last settlement. */
  boolean doAllWaitForSettlements() {
    return held.isEmpty() && !claims.isAnybodyWaiting();
  }

  /** Returns whether so many held sessions stand still that a statement for them is due. */
  boolean isWorthServing(int waiting) {
    return waiting > 0 && waiting * LEAST_PART_WAITING >= held.size();
  }

  void forget(HeldLane lane) {
    held.remove(lane.id(), lane);
  }

  void forget(SessionId session, long epoch) {
    held.computeIfPresent(session, (id, lane) -> lane.epoch() == epoch ? null : lane);
  }

  Optional<HeldLane> held(SessionId session, long epoch) {
    return Optional.ofNullable(held.get(session)).filter(lane -> lane.epoch() == epoch);
  }

  boolean hasReceiversWaiting() {
    return receivers.get() > 0;
  }

  void receiverWaits(int more) {
    receivers.addAndGet(more);
    if (more > 0) {
      pollWithin();
    }
  }

  private void pollWithin() {
    alarm.ringWithin(
        Duration.ofMillis(POLL_MILLIS + ThreadLocalRandom.current().nextLong(POLL_MILLIS / 4)));
  }

  private void poll() {
    if (!closed && (hasReceiversWaiting() || claims.isAnybodyWaiting() || alone.isReading())) {
      claims.wake();
      pulse.beat();
      pollWithin();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.Closed("Queue " + name());
    }
  }

  /** A lane that nobody wanted is on its way back. */
  void givesBack(CompletableFuture<Void> answer) {
    var key = new Object();
    givingBack.put(key, answer);
    var unused = answer.whenComplete((done, error) -> givingBack.remove(key));
  }

  /**
   * What a round has claimed for those who are gone by now is given back when it is over. A process
   * that only sends has no round, and begins none: it would find new messages for nobody.
   */
  private void awaitRound() {
    try {
      Waits.join(claims.joinRunning());
    } catch (RuntimeException e) {
      setup.log().debug("The last round of {} failed", name(), e);
    }
  }

  @Override
  public void close() {
    closed = true;
    alarm.stop();
    claims.close();
    awaitRound();
    for (var lane : held.values()) {
      try {
        lane.close();
      } catch (RuntimeException e) {
        // Its lease runs out by itself.
        setup.log().warn("Could not give session {} back; its lease runs out", lane.id(), e);
      }
    }
    givingBack.values().forEach(Waits::quietly);
    try {
      if (alone.isReading()) {
        alone.stop();
        Waits.join(claims.join());
      }
    } catch (RuntimeException e) {
      setup.log().warn("Could not write sessions of {} down; others find them later", name(), e);
    }
    pulse.beat();
  }
}
