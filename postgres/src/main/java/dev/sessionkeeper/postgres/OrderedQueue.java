package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.postgres.batch.ReaderBuckets;
import dev.sessionkeeper.postgres.claim.ClaimSessions;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.lease.AcceptByName;
import dev.sessionkeeper.postgres.lease.HoldParts;
import dev.sessionkeeper.postgres.lease.OwnedSession;
import dev.sessionkeeper.postgres.lease.OwnedSessions;
import dev.sessionkeeper.postgres.lease.ReadStates;
import dev.sessionkeeper.postgres.lease.RenewLeases;
import dev.sessionkeeper.postgres.lease.SessionCalls;
import dev.sessionkeeper.postgres.lease.SharedSession;
import dev.sessionkeeper.postgres.lease.StateTable;
import dev.sessionkeeper.postgres.poll.ChangeSignal;
import dev.sessionkeeper.postgres.poll.EarliestTimer;
import dev.sessionkeeper.postgres.poll.LastPoll;
import dev.sessionkeeper.postgres.poll.PollRequests;
import dev.sessionkeeper.postgres.poll.Polling;
import dev.sessionkeeper.postgres.poll.WaitingReceivers;
import dev.sessionkeeper.postgres.prefetch.FetchMessages;
import dev.sessionkeeper.postgres.prefetch.PrefetchBudget;
import dev.sessionkeeper.postgres.prefetch.PrefetchRoom;
import dev.sessionkeeper.postgres.queue.LocalQueue;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.read.AskReader;
import dev.sessionkeeper.postgres.read.ExpireMessages;
import dev.sessionkeeper.postgres.read.ReadBuckets;
import dev.sessionkeeper.postgres.read.ReadingOptions;
import dev.sessionkeeper.postgres.read.StopReaders;
import dev.sessionkeeper.postgres.settle.SettleSessions;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;

/** An ordered queue in this process. Composes the workers and passes calls on. */
final class OrderedQueue implements ResumableSessions, LocalQueue {
  private static final long POLL_MILLIS = 1000;
  private static final long NAMED_LOOK_NANOS = Duration.ofMillis(200).toNanos();
  private static final long NAMED_ASK_NANOS = Duration.ofMillis(20).toNanos();

  private final QueueContext queue;
  private final Polling polling;
  private final OwnedSessions owned;
  private final HoldParts parts;
  private final ReadBuckets reader;
  private final ClaimSessions claims;
  private final AskReader asks;
  private volatile boolean closed;

  /**
   * Composes the workers of a queue.
   *
   * @param budget limits the bytes that this process prefetches
   * @param prefetch the messages that come with a session when it is claimed
   * @param readers the buckets of each reader of the queue
   */
  OrderedQueue(
      QueueContext queue,
      PrefetchBudget budget,
      int prefetch,
      ReadingOptions reading,
      ReaderBuckets readers) {
    this.queue = queue;
    var timer = new EarliestTimer(queue.time(), this::poll);
    var last = new LastPoll(queue.time());
    this.polling =
        new Polling(
            new PollsOfThisQueue(),
            timer,
            last,
            new ChangeSignal(),
            new WaitingReceivers(this::pollSoon));
    this.owned = new OwnedSessions(queue, polling.changes(), this::pollIfQuiet);
    var room = new PrefetchRoom(budget.share(() -> timer.fireWithin(Duration.ZERO)), prefetch);
    var calls =
        new SessionCalls(
            new SettleSessions(
                queue, this::isNobodyLeft, last::areSendersHeldUp, owned::isStatementDue),
            new RenewLeases(queue),
            new FetchMessages(queue, room, owned::isStatementDue),
            new StateTable(queue));
    this.parts = new HoldParts(queue, calls, polling, room, owned);
    this.reader = new ReadBuckets(parts, owned, reading, readers);
    this.claims = new ClaimSessions(parts, owned, reader);
    this.asks = new AskReader(queue, reader, polling);
  }

  /** Returns the context that all workers of this queue share. */
  QueueContext context() {
    return queue;
  }

  /** Returns the sessions that consumers of this process hold. */
  OwnedSessions owned() {
    return owned;
  }

  /** Returns the part of this process that reads buckets. */
  ReadBuckets reader() {
    return reader;
  }

  /** Returns the client that sends session requests to readers. */
  AskReader asks() {
    return asks;
  }

  @Override
  public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
    requireOpen();
    queue.listen();
    var acceptor = claims.add(owner);
    pollSoon();
    boolean isServed = false;
    try {
      var session = acceptor.await(queue.time(), wait);
      isServed = session.isPresent();
      return isServed ? new AcceptResult.Accepted(session.get()) : new AcceptResult.NoSession();
    } finally {
      // A poll that serves this consumer has removed it already, and may hold the lock for long.
      if (!isServed) {
        claims.remove(acceptor);
      }
    }
  }

  @Override
  public AcceptResult accept(SessionId session, Owner owner, Duration wait)
      throws InterruptedException {
    queue.listen();
    long started = queue.time().nanoTime();
    var named = new AcceptByName(parts, owned);
    while (true) {
      requireOpen();
      long seen = polling.changes().count();
      // A message that was sent before must have its row.
      var answer = asks.forRow(session, false);
      var result =
          answer instanceof AskReader.Answer.Silent silent
              ? new AcceptResult.Locked(silent.until())
              : named.accept(session, owner);
      long left = wait.toNanos() - (queue.time().nanoTime() - started);
      if (!(result instanceof AcceptResult.NoSession) || left <= 0) {
        return result;
      }
      if (answer instanceof AskReader.Answer.Persisted) {
        // Each ask costs the reader a statement.
        Thread.sleep(Duration.ofNanos(Math.min(left, NAMED_ASK_NANOS)));
      }
      polling.receivers().begin();
      try {
        polling.changes().await(seen, Math.min(left, NAMED_LOOK_NANOS));
      } finally {
        polling.receivers().end();
      }
    }
  }

  @Override
  public Optional<HeldSession> resume(SessionId session, long epoch) {
    requireOpen();
    return owned
        .find(session, epoch)
        .map(OwnedSession::share)
        .orElseGet(() -> SharedSession.find(parts, session, epoch))
        .map(shared -> shared);
  }

  @Override
  public HeldSession handle(SessionId session, long epoch) {
    requireOpen();
    return owned.find(session, epoch).isPresent()
        ? resume(session, epoch)
            .orElseThrow(() -> new KeeperException.LockLost("session " + session, epoch))
        : SharedSession.unseen(parts, session, epoch);
  }

  @Override
  public Map<SessionId, SessionState> states(List<HeldSession> sessions) {
    requireOpen();
    return ReadStates.of(queue, sessions);
  }

  @Override
  public boolean hasReadySession() {
    requireOpen();
    var last = polling.last();
    if (!last.isRecent()) {
      Futures.join(claims.join());
    }
    return last.isReadyLeft() || last.areBatchesLeft() || reader.hasReady();
  }

  @Override
  public void wake() {
    polling.last().changed();
    claims.wake();
    polling.changes().signal();
  }

  /**
   * Notifies other processes, but only if one of them can take the messages: not while this process
   * reads all buckets.
   */
  @Override
  public void sent(boolean areSendersHeldUp) {
    polling.last().areSendersHeldUp(areSendersHeldUp);
    wake();
    if (!reader.isAlone()) {
      queue.tellOthers();
    }
  }

  /** Handles a notification that another process requests sessions which this one has in memory. */
  void asked() {
    reader.asked();
    claims.wake();
  }

  @Override
  public void tellNews(SessionId session) {
    owned.tellNews(session);
  }

  @Override
  public void applyDue() {
    new ExpireMessages(reader, claims).apply();
  }

  @Override
  public void beforePurge() {
    new StopReaders(queue, reader, asks, claims).stop();
  }

  @Override
  public void afterPurge() {
    owned.doubtAll();
  }

  /** Returns when a poll that begins from now on is over, whether or not it failed. */
  void awaitPoll() {
    Futures.quietly(claims.join());
  }

  /** Returns whether all consumers of this process only wait for their last settlement. */
  private boolean isNobodyLeft() {
    return owned.isEmpty() && !claims.isAnybodyWaiting();
  }

  private void pollSoon() {
    polling
        .timer()
        .fireWithin(
            Duration.ofMillis(POLL_MILLIS + ThreadLocalRandom.current().nextLong(POLL_MILLIS / 4)));
  }

  private void poll() {
    if (!closed
        && (polling.receivers().isAnyWaiting()
            || claims.isAnybodyWaiting()
            || reader.isReading())) {
      claims.wake();
      polling.changes().signal();
      pollSoon();
    }
  }

  /**
   * Polls if a session is held without a row and has not moved for a while, because the poll writes
   * its row.
   */
  private void pollIfQuiet() {
    if (reader.hasToPersist()) {
      claims.ask();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.Closed("Queue " + queue.name());
    }
  }

  /**
   * Waits for the poll that runs now, if any; the end of a poll gives back the sessions it claimed
   * for consumers that have gone. Begins no poll, which would read new messages for no consumer.
   */
  private void awaitRunningPoll() {
    try {
      Futures.join(claims.joinRunning());
    } catch (RuntimeException e) {
      queue.log().debug("The last round of {} failed", queue.name(), e);
    }
  }

  @Override
  public void close() {
    closed = true;
    polling.timer().stop();
    claims.close();
    awaitRunningPoll();
    for (var session : owned.all()) {
      try {
        session.close();
      } catch (RuntimeException e) {
        // Its lease runs out by itself.
        queue.log().warn("Could not give session {} back; its lease runs out", session.id(), e);
      }
    }
    owned.awaitGivenBack();
    try {
      if (reader.isReading()) {
        reader.stop();
        Futures.join(claims.join());
      }
    } catch (RuntimeException e) {
      queue
          .log()
          .warn("Could not write sessions of {} down; others find them later", queue.name(), e);
    }
    polling.changes().signal();
  }

  /** Requests polls of this queue, for workers that are created before {@link ClaimSessions}. */
  private final class PollsOfThisQueue implements PollRequests {
    @Override
    public void ask() {
      claims.ask();
    }

    @Override
    public void wake() {
      claims.wake();
    }

    @Override
    public CompletableFuture<Void> join() {
      return claims.join();
    }

    @Override
    public boolean isAnybodyWaiting() {
      return claims.isAnybodyWaiting();
    }

    @Override
    public void serveCached() {
      claims.serveCached();
    }

    @Override
    public void makeDueWithin(Duration delay) {
      claims.makeDueWithin(delay);
    }

    @Override
    public void makeDueNow() {
      claims.makeDueNow();
    }
  }
}
