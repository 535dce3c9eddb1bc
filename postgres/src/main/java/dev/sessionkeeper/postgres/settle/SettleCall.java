package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Settlements of one session that take effect together, with a state if there is one; all or
 * nothing.
 *
 * @param shared whether the session's row lists the open deliveries, because several processes use
 *     the lease
 */
public record SettleCall(
    SessionId session,
    long epoch,
    boolean shared,
    List<Settled> settlements,
    boolean areExpired,
    Optional<SessionState.Write> state) {
  /** Dead-letters messages that have expired. */
  public static SettleCall expired(SessionId session, long epoch, List<Settled> settlements) {
    return new SettleCall(session, epoch, false, settlements, true, Optional.empty());
  }

  /** Returns a state write without settlements. */
  public static SettleCall write(SessionId session, long epoch, SessionState.Write state) {
    return new SettleCall(session, epoch, true, List.of(), false, Optional.of(state));
  }

  /** Returns whether this call retries a single message and does nothing else. */
  boolean isRetry() {
    return !shared
        && state.isEmpty()
        && settlements.size() == 1
        && settlements.getFirst().settlement() instanceof Settlement.Retry;
  }

  /**
   * Returns the result, or throws the exception of the outcome.
   *
   * @return the new version of the state; zero if none was written
   */
  long result(SettleOutcome outcome) {
    var detail = outcome.detail();
    return switch (outcome.name()) {
      case "ok" -> detail == null ? 0 : detail;
      case "lost" -> throw new KeeperException.LockLost("session " + session, epoch);
      case "order" ->
          throw new KeeperException.OutOfOrder(
              session,
              outcome.sequence(),
              detail == null ? "it is not in hand" : "message " + detail + " is open");
      case "stale" ->
          throw new KeeperException.StaleState(
              session,
              state.map(SessionState.Write::expectedVersion).orElse(0L),
              Objects.requireNonNull(detail));
      default -> throw new KeeperException.Rejected("Unknown outcome " + outcome.name());
    };
  }
}
