package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionState;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The result of one work request.
 *
 * @param repeated whether the request was done before, and this is its result again
 */
record WorkAnswer(
    boolean repeated,
    List<WorkSettled> settled,
    List<WorkRenewed> renewed,
    List<WorkSession> sessions) {

  /** The result of the settlements of one session. */
  enum Outcome {
    SETTLED("settled"),
    /** The lease is lost. Nothing was changed, and the next owner gets the messages. */
    LOST("lost"),
    /** An earlier delivery is open, or these were settled before. Nothing was changed. */
    OUT_OF_ORDER("outOfOrder"),
    /** The state has another version. Nothing was changed. */
    STALE_STATE("staleState"),
    /** The store did not answer. Settle again, or let the lease expire. */
    UNAVAILABLE("unavailable");

    private final String word;

    Outcome(String word) {
      this.word = word;
    }

    /**
     * Returns whether the settlements surely took no effect, so that a repetition may try again.
     */
    boolean changedNothing() {
      return switch (this) {
        case LOST, OUT_OF_ORDER, STALE_STATE -> true;
        case SETTLED, UNAVAILABLE -> false;
      };
    }

    /**
     * Returns the outcome of settlements that failed.
     *
     * @throws RuntimeException the failure itself, if it did not come from the store
     */
    static Outcome of(RuntimeException failure) {
      return switch (failure) {
        case KeeperException.LockLost lost -> LOST;
        case KeeperException.OutOfOrder early -> OUT_OF_ORDER;
        case KeeperException.StaleState stale -> STALE_STATE;
        case KeeperException.Unavailable away -> UNAVAILABLE;
        case KeeperException.OutcomeUnknown unknown -> UNAVAILABLE;
        default -> throw failure;
      };
    }

    @Override
    public String toString() {
      return word;
    }
  }

  record WorkSettled(String leaseId, Outcome outcome, Optional<String> detail) {}

  record WorkRenewed(String leaseId, boolean held, Optional<Instant> lockedUntil) {}

  /** A held session with its next messages. */
  record WorkSession(
      String leaseId,
      String sessionId,
      long epoch,
      Instant lockedUntil,
      Optional<String> state,
      Optional<Long> stateVersion,
      List<DeliveryView> messages) {

    static WorkSession of(
        String leaseId, Lease lease, Optional<SessionState> state, List<Delivery> deliveries) {
      var written = state.filter(known -> known.version() > 0);
      return new WorkSession(
          leaseId,
          lease.resource(),
          lease.epoch(),
          lease.until(),
          written.map(known -> Base64.getEncoder().encodeToString(known.bytes())),
          written.map(SessionState::version),
          deliveries.stream().map(DeliveryView::of).toList());
    }
  }
}
