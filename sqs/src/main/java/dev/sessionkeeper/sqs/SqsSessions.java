package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.SessionSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The message groups of one FIFO queue.
 *
 * <p>A receive brings messages of any groups. Messages of a group that an owner here holds go to
 * that owner, others to a worker that waits for a session; messages without either are released at
 * once.
 */
final class SqsSessions implements SessionSource, AutoCloseable {
  private static final int SWEEP_CALLS = 10;

  private final SqsQueue queue;
  private final DeleteMessages deleting;
  private final VetMessages vetting;
  private final ReadyGroups ready;
  private final PollQueue polling;
  private final Map<String, SqsHeldSession> held = new ConcurrentHashMap<>();
  private final Map<String, Long> lastEpochs = new LinkedHashMap<>();
  private volatile boolean closed;

  SqsSessions(SqsQueue queue, DeleteMessages deleting) {
    this.queue = queue;
    this.deleting = deleting;
    this.vetting = new VetMessages(queue, deleting);
    this.ready = new ReadyGroups(queue);
    this.polling = new PollQueue(queue, this::arrived);
  }

  @Override
  public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
    requireOpen();
    long end = queue.time().nanoTime() + wait.toNanos();
    ready.enter();
    try {
      while (true) {
        var left = Duration.ofNanos(Math.max(0, end - queue.time().nanoTime()));
        polling.await(left, () -> closed || !ready.isEmpty());
        requireOpen();
        var batch = ready.take();
        if (batch.isPresent()) {
          return new AcceptResult.Accepted(hold(batch.get(), owner));
        }
        // Another worker may have been faster, while time is left.
        if (end - queue.time().nanoTime() <= 0) {
          return new AcceptResult.NoSession();
        }
      }
    } finally {
      ready.leave();
    }
  }

  private SqsHeldSession hold(Batch batch, Owner owner) {
    var lease = new Lease(batch.session().value(), owner, nextEpoch(batch), lockedUntil());
    var session = new SqsHeldSession(queue, this, deleting, batch, lease);
    held.put(batch.group(), session);
    return session;
  }

  @Override
  public boolean hasReadySession() {
    ready.wanted();
    return !ready.isEmpty();
  }

  /** Waits for messages of the session's group, after the session's messages are used up. */
  void awaitArrival(SqsHeldSession session, Duration wait) throws InterruptedException {
    // While others wait for a worker, receiving more would only take messages from other nodes.
    if (ready.isEmpty()) {
      polling.await(wait, () -> closed || session.hasArrived() || !ready.isEmpty());
    } else {
      Thread.sleep(wait.compareTo(PollQueue.PAUSE) < 0 ? wait : PollQueue.PAUSE);
    }
  }

  Instant lockedUntil() {
    return queue.clock().now().plus(queue.settings().lockDuration());
  }

  private long nextEpoch(Batch batch) {
    var head = batch.head().received();
    long atLeast = Sequences.epoch(head.sequence(), head.receives());
    synchronized (lastEpochs) {
      var last = lastEpochs.remove(batch.group());
      long epoch = Math.max(atLeast, last == null ? 0 : last + 1);
      if (queue.states().isPresent()) {
        epoch = queue.states().get().open(queue.name(), batch.session(), epoch);
      }
      lastEpochs.put(batch.group(), epoch);
      if (lastEpochs.size() > 10_000) {
        lastEpochs.remove(lastEpochs.keySet().iterator().next());
      }
      return epoch;
    }
  }

  /** Distributes the messages of a receive. Runs on the thread of the receive. */
  private boolean arrived(List<Received> messages) {
    var groups = new LinkedHashMap<String, ArrayDeque<Item>>();
    for (var received : messages) {
      var known = queue.attempts().received(received.messageId(), received.receives());
      groups
          .computeIfAbsent(received.group(), group -> new ArrayDeque<>())
          .add(Item.of(received, known));
    }
    long now = queue.time().nanoTime();
    boolean anyTaken = false;
    for (var group : groups.entrySet()) {
      anyTaken |= arrived(new Batch(group.getKey(), group.getValue(), now));
    }
    return anyTaken;
  }

  /** Returns whether a caller of this process takes the group. */
  private boolean arrived(Batch batch) {
    if (!vetting.findGoodHeadNow(batch.items())) {
      giveBack(batch, Duration.ZERO);
      return false;
    }
    var due = queue.dueIn(batch.head().received());
    if (due.isPositive()) {
      giveBack(batch, due);
      return false;
    }
    var holder = held.get(batch.group());
    if (holder != null && holder.refill(batch, nextEpoch(batch))) {
      return true;
    }
    if (!closed && ready.offer(batch)) {
      return true;
    }
    giveBack(batch, Duration.ZERO);
    return false;
  }

  /** Dead-letters expired messages that no consumer received; some hundred messages at most. */
  void sweep() {
    for (int i = 0; i < SWEEP_CALLS; i++) {
      var messages = queue.calls().receive(SqsCalls.BATCH, 0, queue.lockSeconds());
      if (messages.isEmpty()) {
        return;
      }
      arrived(messages);
    }
  }

  private void giveBack(Batch batch, Duration headDelay) {
    if (!batch.items().isEmpty()) {
      InFlight.giveBack(queue, List.copyOf(batch.items()), headDelay);
    }
  }

  void closed(SqsHeldSession session) {
    held.remove(session.group(), session);
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.Closed("Queue " + queue.name());
    }
  }

  @Override
  public void close() {
    closed = true;
    polling.close();
    List.copyOf(held.values()).forEach(SqsHeldSession::close);
    ready.giveBackAll();
  }
}
