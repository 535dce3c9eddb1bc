package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.sqs.SqsCalls.Hidden;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Groups whose messages are in flight to this process and wait for a worker.
 *
 * <p>Waiting groups are kept from other processes, so they wait for {@link #KEPT} at most.
 */
final class ReadyGroups {
  private static final Logger log = LoggerFactory.getLogger(ReadyGroups.class);
  private static final Duration KEPT = Duration.ofSeconds(1);
  private static final Duration FRESH = Duration.ofMillis(100);

  private final SqsQueue queue;
  private final ArrayDeque<Batch> ready = new ArrayDeque<>();
  private int workers;
  private long wantedUntil;

  ReadyGroups(SqsQueue queue) {
    this.queue = queue;
    this.wantedUntil = queue.time().nanoTime();
  }

  /** Records that a caller will ask for a group soon, so that the next group is kept for it. */
  synchronized void wanted() {
    wantedUntil = queue.time().nanoTime() + KEPT.toNanos();
  }

  /** Records that a worker begins to wait. */
  synchronized void enter() {
    workers++;
  }

  synchronized void leave() {
    workers--;
  }

  synchronized boolean isEmpty() {
    return ready.isEmpty();
  }

  /**
   * Offers a message group to the workers. Returns false if no worker waits and none is expected
   * soon.
   */
  synchronized boolean offer(Batch batch) {
    if (workers == 0 && wantedUntil - queue.time().nanoTime() <= 0) {
      return false;
    }
    ready.add(batch);
    var unused = queue.time().schedule(KEPT, () -> Thread.startVirtualThread(() -> giveUp(batch)));
    return true;
  }

  /** Returns the first group that is still in flight. */
  Optional<Batch> take() {
    while (true) {
      Batch first;
      synchronized (this) {
        first = ready.poll();
      }
      if (first == null) {
        return Optional.empty();
      }
      var fresh = renewed(first);
      if (fresh.isPresent()) {
        return fresh;
      }
    }
  }

  /**
   * Hides a group again that has waited here, because a worker counts the lock from its request.
   */
  private Optional<Batch> renewed(Batch batch) {
    if (queue.time().since(batch.arrivedAt()).compareTo(FRESH) < 0) {
      return Optional.of(batch);
    }
    long now = queue.time().nanoTime();
    var hidden =
        batch.receipts().stream().map(receipt -> new Hidden(receipt, queue.lockSeconds())).toList();
    try {
      return queue.calls().hide(hidden).isEmpty()
          ? Optional.of(new Batch(batch.group(), batch.items(), now))
          : Optional.empty();
    } catch (KeeperException e) {
      log.debug("Messages of {} that waited here are lost again", queue.name(), e);
      return Optional.empty();
    }
  }

  private void giveUp(Batch batch) {
    synchronized (this) {
      if (!ready.remove(batch)) {
        return;
      }
    }
    giveBack(batch);
  }

  private void giveBack(Batch batch) {
    try {
      InFlight.giveBack(queue, List.copyOf(batch.items()), Duration.ZERO);
    } catch (KeeperException e) {
      log.debug("Messages of {} return when their visibility timeout ends", queue.name(), e);
    }
  }

  void giveBackAll() {
    List<Batch> all;
    synchronized (this) {
      all = List.copyOf(ready);
      ready.clear();
    }
    all.forEach(this::giveBack);
  }
}
