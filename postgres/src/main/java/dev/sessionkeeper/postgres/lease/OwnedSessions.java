package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.poll.ChangeSignal;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.SessionNews;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The sessions of one queue that consumers of this process hold. */
public final class OwnedSessions implements ForgetHold, HoldRegistry {
  private static final int LEAST_PART_WAITING = 8;

  private final QueueContext queue;
  private final ChangeSignal changes;
  private final ReturnUnreceived drops;
  private final ConcurrentHashMap<SessionId, OwnedSession> held = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Object, CompletableFuture<Void>> givingBack =
      new ConcurrentHashMap<>();

  /**
   * Creates the registry.
   *
   * @param beforeDrop runs regularly while sessions are held
   */
  public OwnedSessions(QueueContext queue, ChangeSignal changes, Runnable beforeDrop) {
    this.queue = queue;
    this.changes = changes;
    this.drops = new ReturnUnreceived(queue, this::holds, beforeDrop);
  }

  public Collection<OwnedSession> all() {
    return held.values();
  }

  private List<Hold> holds() {
    return held.values().stream().map(OwnedSession::hold).toList();
  }

  public boolean isEmpty() {
    return held.isEmpty();
  }

  /**
   * Returns whether enough sessions wait for a statement that it should run now: an eighth of those
   * that are held.
   */
  public boolean isStatementDue(int waiting) {
    return waiting > 0 && waiting * LEAST_PART_WAITING >= held.size();
  }

  public void add(OwnedSession owned) {
    var before = held.put(owned.id(), owned);
    if (before != null && before.hold().epoch < owned.hold().epoch) {
      before.hold().superseded();
    }
    drops.start();
  }

  @Override
  public void forget(Hold hold) {
    held.computeIfPresent(hold.id, (id, session) -> session.hold() == hold ? null : session);
  }

  @Override
  public void forget(SessionId session, long epoch) {
    held.computeIfPresent(session, (id, owned) -> owned.hold().epoch == epoch ? null : owned);
  }

  public Optional<OwnedSession> find(SessionId session, long epoch) {
    return Optional.ofNullable(held.get(session)).filter(owned -> owned.hold().epoch == epoch);
  }

  /** Passes new messages on to the process that holds the session. */
  public void tellNews(SessionNews news) {
    if (news.node().equals(queue.node().id())) {
      tellNews(news.session());
    } else {
      queue.provider().notifications().news(news.node(), queue.id(), news.session());
    }
  }

  /** Tells the holder of the session, if this process has it, that messages have come. */
  public void tellNews(SessionId session) {
    var owned = held.get(session);
    if (owned != null) {
      owned.hold().suspectMore();
    }
    changes.signal();
  }

  /**
   * Makes the holder ask the database before it hands out more, because an operator may have taken
   * the session.
   */
  public void doubt(SessionId session) {
    var owned = held.get(session);
    if (owned != null) {
      owned.hold().doubt();
    }
  }

  /** Makes all holders ask the database before they hand out more. */
  public void doubtAll() {
    holds().forEach(Hold::doubt);
  }

  @Override
  public void givesBack(CompletableFuture<Void> answer) {
    var key = new Object();
    givingBack.put(key, answer);
    var unused = answer.whenComplete((done, error) -> givingBack.remove(key));
  }

  /** Returns when all sessions that were being given back have been. */
  public void awaitGivenBack() {
    givingBack.values().forEach(Futures::quietly);
  }
}
