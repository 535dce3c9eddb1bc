package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The calls of one held session that wait for the next request, in order. Guarded by its {@link
 * Rounds}.
 *
 * <p>I1: at most one entry of a session is on its way, so its settlements keep their order.
 */
final class PendingCalls {
  private final String leaseId;
  private final SessionId session;
  private final long epoch;
  private final Deque<Part> parts = new ArrayDeque<>();
  private boolean isOnItsWay;
  private boolean isQueued;

  PendingCalls(String leaseId, SessionId session, Lease lease) {
    this.leaseId = leaseId;
    this.session = session;
    this.epoch = lease.epoch();
  }

  /** One wish of a session. */
  sealed interface Part {}

  /**
   * Settlements, all or nothing.
   *
   * @param isAlone whether no other settlements may share its entry
   */
  record Settle(
      List<Settled> settled,
      Optional<SessionState.Write> state,
      boolean isAlone,
      CompletableFuture<Void> done)
      implements Part {
    static Settle of(List<Settled> settled, Optional<SessionState.Write> state) {
      return new Settle(settled, state, state.isPresent(), new CompletableFuture<>());
    }

    Settle alone() {
      return new Settle(settled, state, true, done);
    }

    /** Returns whether the caller can do nothing before the settlement is durable. */
    boolean isUrgent() {
      return state.isPresent() || endsDeliveries();
    }

    /** Returns whether the deliveries behind it become void. */
    boolean endsDeliveries() {
      return settled.stream()
          .anyMatch(
              each ->
                  each.settlement() instanceof Settlement.Retry
                      || each.settlement() instanceof Settlement.Park);
    }

    boolean parks() {
      return settled.stream().anyMatch(each -> each.settlement() instanceof Settlement.Park);
    }
  }

  record Receive(int max, CompletableFuture<List<Delivery>> done) implements Part {}

  record Release(CompletableFuture<Void> done) implements Part {}

  String leaseId() {
    return leaseId;
  }

  SessionId session() {
    return session;
  }

  void add(Part part) {
    parts.add(part);
  }

  /** Returns whether it has to be queued now; it counts as queued from then on. */
  boolean queue() {
    if (isQueued || isOnItsWay || parts.isEmpty()) {
      return false;
    }
    isQueued = true;
    return true;
  }

  /** Returns whether some stores refuse a settlement in it, and the whole request with it. */
  boolean hasOneOftenRefused() {
    return parts.stream().anyMatch(part -> part instanceof Settle settle && settle.parks());
  }

  /** Takes the parts that fit into one entry of a request. */
  Entry take() {
    isQueued = false;
    isOnItsWay = true;
    var settles = new ArrayList<Settle>();
    int size = 0;
    while (parts.peek() instanceof Settle next && fits(settles, size, next)) {
      settles.add(next);
      size += next.settled().size();
      parts.remove();
    }
    var last =
        parts.peek() instanceof Settle ? Optional.<Part>empty() : Optional.ofNullable(parts.poll());
    return new Entry(this, settles, last);
  }

  private static boolean fits(List<Settle> settles, int size, Settle next) {
    return settles.isEmpty()
        || (!next.isAlone()
            && !settles.getLast().isAlone()
            && !settles.getLast().endsDeliveries()
            && size + next.settled().size() <= Limits.DEFAULT.maxBatch());
  }

  void returned() {
    isOnItsWay = false;
  }

  /** Puts the parts of an entry that changed nothing back, to be sent one after the other. */
  void putBack(List<Settle> settles, Optional<Part> last) {
    last.ifPresent(parts::addFirst);
    settles.reversed().forEach(each -> parts.addFirst(each.alone()));
  }

  /**
   * The parts of one session in one request.
   *
   * @param last receives or releases, after the settlements
   */
  record Entry(PendingCalls of, List<Settle> settles, Optional<Part> last) {
    Entry {
      settles = List.copyOf(settles);
    }

    /** Returns the error of an outcome that is not {@code settled}. */
    KeeperException error(String outcome, String detail) {
      return switch (outcome) {
        case "lost" -> new KeeperException.LockLost("session " + of.session, of.epoch);
        case "outOfOrder" -> new KeeperException.OutOfOrder(of.session, 0, detail);
        case "staleState" -> new KeeperException.StaleState(of.session, 0, 0);
        default -> new KeeperException.Unavailable(detail);
      };
    }

    void settled() {
      settles.forEach(each -> each.done().complete(null));
    }

    void failed(RuntimeException e) {
      settles.forEach(each -> each.done().completeExceptionally(e));
    }

    void lastFailed(RuntimeException e) {
      switch (last.orElse(null)) {
        case null -> {}
        case Settle settle -> settle.done().completeExceptionally(e);
        case Receive receive -> receive.done().completeExceptionally(e);
        case Release release when e instanceof KeeperException.LockLost ->
            // Another owner has the session already, so there is nothing to release.
            release.done().complete(null);
        case Release release -> release.done().completeExceptionally(e);
      }
    }
  }
}
