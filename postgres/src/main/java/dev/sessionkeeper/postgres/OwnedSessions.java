package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The sessions of one queue that consumers of this process hold. */
final class OwnedSessions {
  private final QueueContext queue;
  private final ChangeSignal changes;
  private final DropUnreceived drops;
  private final ConcurrentHashMap<SessionId, HeldLane> held = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Object, CompletableFuture<Void>> givingBack =
      new ConcurrentHashMap<>();

  /**
   * Registers.
   *
   * @param beforeDrop runs regularly while sessions are held
   */
  OwnedSessions(QueueContext queue, ChangeSignal changes, Runnable beforeDrop) {
    this.queue = queue;
    this.changes = changes;
    this.drops = new DropUnreceived(queue, held::values, beforeDrop);
  }

  Collection<HeldLane> all() {
    return held.values();
  }

  boolean isEmpty() {
    return held.isEmpty();
  }

  void add(HeldLane lane) {
    var before = held.put(lane.id(), lane);
    if (before != null && before.epoch() < lane.epoch()) {
      before.superseded();
    }
    drops.start();
  }

  void forget(HeldLane lane) {
    held.remove(lane.id(), lane);
  }

  void forget(SessionId session, long epoch) {
    held.computeIfPresent(session, (id, lane) -> lane.epoch() == epoch ? null : lane);
  }

  Optional<HeldLane> find(SessionId session, long epoch) {
    return Optional.ofNullable(held.get(session)).filter(lane -> lane.epoch() == epoch);
  }

  /** Passes news on to the process that holds the session. */
  void tellNews(SessionNews news) {
    if (news.node().equals(queue.node().id())) {
      tellNews(news.session());
    } else {
      queue.provider().notifications().news(news.node(), queue.id(), news.session());
    }
  }

  /** Tells the holder of the session, if this process has it, that messages have come. */
  void tellNews(SessionId session) {
    var lane = held.get(session);
    if (lane != null) {
      lane.tellNews();
    }
    changes.signal();
  }

  /** Makes the holder ask the database first: an operator may have taken the session. */
  void doubt(SessionId session) {
    var lane = held.get(session);
    if (lane != null) {
      lane.doubt();
    }
  }

  /** Makes all holders ask the database first. */
  void doubtAll() {
    held.values().forEach(HeldLane::doubt);
  }

  /** Remembers a session that no consumer wanted and that is on its way back. */
  void givesBack(CompletableFuture<Void> answer) {
    var key = new Object();
    givingBack.put(key, answer);
    var unused = answer.whenComplete((done, error) -> givingBack.remove(key));
  }

  /** Returns when all sessions that were on their way back have arrived. */
  void awaitGivenBack() {
    givingBack.values().forEach(Waits::quietly);
  }
}
