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
 * The messages of one group that are in flight to this process: delivered, or waiting behind those.
 *
 * <p>I1: they are renewed together and released together, in one call and the last one first; a
 * head that became visible before the others would be delivered to another consumer. The caller
 * holds the session's lock.
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

  /** Returns whether the group is lost: closed, or in flight for too long. */
  boolean isLost() {
    return closed || (!isEmpty() && queue.time().nanoTime() - deadline >= 0);
  }

  /**
   * Returns a check of whether the messages in flight now will still be hidden later without a
   * renewal.
   */
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

  /** Records that the first message is settled for good; the next one is open now. */
  void settled() {
    out.remove();
    markHead(true);
  }

  /** Retries the first message after a delay, together with those behind it. */
  void again(Item failed, Duration delay) {
    out.remove();
    out.addFirst(failed);
    takeBack();
    dueAt = queue.time().nanoTime() + delay.toNanos();
  }

  /** Makes open deliveries void. */
  void takeBack() {
    markHead(false);
    for (var item : List.copyOf(out).reversed()) {
      waiting.addFirst(item);
    }
    out.clear();
  }

  /** Hides all messages for this long. Returns false if one was no longer ours. */
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
        log.debug(
            "Session {} could not be released; it is free when its visibility timeout ends",
            session,
            e);
      }
    }
  }

  /**
   * Releases messages in one call, the last one first; the head stays hidden while it has to wait.
   */
  static void giveBack(SqsQueue queue, List<Item> items, Duration headDelay) {
    var entries = new ArrayList<Hidden>();
    for (int i = items.size() - 1; i > 0; i--) {
      entries.add(new Hidden(items.get(i).received().receipt(), 0));
    }
    entries.add(new Hidden(items.get(0).received().receipt(), SqsQueue.seconds(headDelay)));
    queue.calls().hideAll(entries);
  }
}
