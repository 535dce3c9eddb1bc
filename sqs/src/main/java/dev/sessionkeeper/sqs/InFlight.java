package dev.sessionkeeper.sqs;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.sqs.SqsCalls.Hidden;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages of one group that are in flight to this process: handed out, or waiting behind
 * those.
 *
 * <p>I1: they are renewed together and released together, in one call and the last one first; a
 * head that became visible before its batch-mates would be delivered to another consumer. The
 * caller holds the session's lock.
 */
final class InFlight {
  private static final Logger log = LoggerFactory.getLogger(InFlight.class);

  private final SqsQueue queue;
  private final SessionId session;
  private final VetMessages vetting;
  private final ArrayDeque<Item> out = new ArrayDeque<>();
  private final ArrayDeque<Item> waiting = new ArrayDeque<>();
  private long deadline;
  private long dueAt;
  private boolean closed;

  InFlight(SqsQueue queue, SessionId session, VetMessages vetting) {
    this.queue = queue;
    this.session = session;
    this.vetting = vetting;
    this.dueAt = queue.time().nanoTime();
  }

  void add(Batch batch) {
    waiting.addAll(batch.items());
    deadline = batch.arrivedAt() + Duration.ofSeconds(queue.lockSeconds()).toNanos();
  }

  boolean isClosed() {
    return closed;
  }

  boolean isEmpty() {
    return out.isEmpty() && waiting.isEmpty();
  }

  /**
   * Returns whether nothing may be done any more: closed, or what is in flight is so for too long.
   */
  boolean isLost() {
    return closed || (!isEmpty() && queue.time().nanoTime() - deadline >= 0);
  }

  /** Tells later whether what is in flight now is still hidden then, if it is not renewed. */
  BooleanSupplier isHiddenNow() {
    long until = deadline;
    return () -> until - queue.time().nanoTime() > 0;
  }

  List<Delivery> handOut(int max) {
    var batch = new ArrayList<Delivery>();
    while (batch.size() < max
        && dueAt - queue.time().nanoTime() <= 0
        && vetting.findGoodHeadNow(waiting)
        && !queue.dueIn(waiting.getFirst().received()).isPositive()) {
      var item = waiting.remove();
      out.add(item);
      batch.add(item.delivery(queue.settings().maxDeliveryCount()));
    }
    markHead(true);
    return batch;
  }

  private void markHead(boolean inHand) {
    if (!out.isEmpty()) {
      queue.attempts().inHand(out.getFirst().received().messageId(), inHand);
    }
  }

  List<Item> out() {
    return List.copyOf(out);
  }

  Optional<Item> first() {
    return Optional.ofNullable(out.peek());
  }

  /** The first one is settled for good; the one behind it is in hand now. */
  void settled() {
    out.remove();
    markHead(true);
  }

  /** The first one is tried again, and those behind it with it, after a delay. */
  void again(Item failed, Duration delay) {
    out.remove();
    out.addFirst(failed);
    takeBack();
    dueAt = queue.time().nanoTime() + delay.toNanos();
  }

  /** Makes what is handed out void. */
  void takeBack() {
    markHead(false);
    for (var item : List.copyOf(out).reversed()) {
      waiting.addFirst(item);
    }
    out.clear();
  }

  /** Hides all of them for as long; false when one was no longer ours. */
  boolean hideAll(int seconds) {
    var all = new ArrayList<Hidden>();
    out.forEach(item -> all.add(new Hidden(item.received().receipt(), seconds)));
    waiting.forEach(item -> all.add(new Hidden(item.received().receipt(), seconds)));
    if (all.isEmpty()) {
      return true;
    }
    long asked = queue.time().nanoTime();
    var failures = queue.calls().hide(all);
    if (!failures.isEmpty()) {
      log.debug("Session {} is lost: {}", session, failures);
      closed = failures.values().stream().anyMatch(SqsCalls.Failure::isReceiptRefused);
      return false;
    }
    deadline = asked + Duration.ofSeconds(seconds).toNanos();
    return true;
  }

  void giveBackAll() {
    if (closed) {
      return;
    }
    boolean lost = isLost();
    if (!lost) {
      takeBack();
    }
    closed = true;
    if (!lost && !waiting.isEmpty()) {
      var delay = Duration.ofNanos(dueAt - queue.time().nanoTime());
      try {
        giveBack(queue, List.copyOf(waiting), delay);
      } catch (KeeperException e) {
        log.debug("Session {} is not given back; it is free when its time is over", session, e);
      }
    }
  }

  /** In one call, the last one first; the head stays hidden while it has to wait. */
  static void giveBack(SqsQueue queue, List<Item> items, Duration headDelay) {
    var entries = new ArrayList<Hidden>();
    for (int i = items.size() - 1; i > 0; i--) {
      entries.add(new Hidden(items.get(i).received().receipt(), 0));
    }
    entries.add(new Hidden(items.get(0).received().receipt(), SqsQueue.seconds(headDelay)));
    queue.calls().hideAll(entries);
  }
}
