package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The deliveries of one hold that are not settled for good: open ones, in order, and those whose
 * settlement is in flight. Guarded by the lock of its hold.
 */
public final class OpenDeliveries {
  private final SessionId session;
  private final ArrayDeque<Long> open = new ArrayDeque<>();
  private final ArrayDeque<Long> settling = new ArrayDeque<>();
  private int failures;

  OpenDeliveries(SessionId session) {
    this.session = session;
  }

  void add(long sequence) {
    open.addLast(sequence);
  }

  int size() {
    return open.size() + settling.size();
  }

  /** Returns all messages that must not be handed out again. */
  Set<Long> all() {
    var all = new HashSet<>(settling);
    all.addAll(open);
    return all;
  }

  List<Long> open() {
    return List.copyOf(open);
  }

  /** Adds a message that is settled without having been delivered. */
  void settleUnseen(long sequence) {
    settling.addLast(sequence);
  }

  /**
   * Marks open deliveries as in flight to the database.
   *
   * @throws KeeperException.OutOfOrder if they are not the first open ones, in order (S-03a)
   */
  void settle(List<Settled> settlements) {
    requireInOrder(settlements);
    for (int i = 0; i < settlements.size(); i++) {
      settling.addLast(open.removeFirst());
    }
    if (!settlements.isEmpty()
        && stopsTheSession(settlements.get(settlements.size() - 1).settlement())) {
      open.clear();
    }
  }

  /** Removes deliveries that are settled for good. */
  void settled(List<Settled> settlements) {
    // Settlements mostly come back in the order in which they were sent: then each is the first
    // one.
    settlements.forEach(settled -> settling.removeFirstOccurrence(settled.sequence()));
  }

  /**
   * Opens deliveries again that could not be settled, and all deliveries that were sent after them,
   * which the database will refuse ({@link #failures}).
   */
  void notSettled(List<Settled> settlements) {
    if (settlements.isEmpty() || !settling.contains(settlements.get(0).sequence())) {
      return; // Back already, with an earlier one.
    }
    failures++;
    var back = new ArrayDeque<Long>();
    boolean isBehind = false;
    for (long sequence : List.copyOf(settling)) {
      isBehind |= sequence == settlements.get(0).sequence();
      if (isBehind) {
        settling.remove(sequence);
        back.addFirst(sequence);
      }
    }
    back.forEach(open::addFirst);
  }

  /**
   * Returns how often settlements of this hold have failed. Settlements sent before the last
   * failure are void.
   */
  int failures() {
    return failures;
  }

  /** Returns whether this message is the next one to be settled. */
  boolean isNext(long sequence) {
    return !open.isEmpty() && open.getFirst() == sequence;
  }

  private void requireInOrder(List<Settled> settlements) {
    var next = open.iterator();
    for (int i = 0; i < settlements.size(); i++) {
      long sequence = settlements.get(i).sequence();
      if (!next.hasNext()) {
        throw new KeeperException.OutOfOrder(session, sequence, "it is not in hand");
      }
      long first = next.next();
      if (first != sequence) {
        throw new KeeperException.OutOfOrder(session, sequence, "message " + first + " is open");
      }
      requireNotVoid(session, settlements, i);
    }
  }

  static void requireNotVoid(SessionId session, List<Settled> settlements, int i) {
    if (i > 0 && stopsTheSession(settlements.get(i - 1).settlement())) {
      throw new KeeperException.OutOfOrder(
          session,
          settlements.get(i).sequence(),
          "it is void, because the message before it comes again");
    }
  }

  static boolean stopsTheSession(Settlement settlement) {
    return switch (settlement) {
      case Settlement.Retry retry -> true;
      case Settlement.Park park -> true;
      case Settlement.Complete complete -> false;
      case Settlement.DeadLetter letter -> false;
    };
  }
}
