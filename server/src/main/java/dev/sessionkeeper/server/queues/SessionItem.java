package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A session as the inspector shows it: its status, and why it does not move. */
public record SessionItem(
    String sessionId,
    String status,
    long backlog,
    Duration headAge,
    Optional<String> owner,
    long epoch,
    Optional<Instant> lockedUntil,
    int attempts,
    Optional<String> blockedReason,
    Optional<Instant> blockedSince,
    Optional<Instant> heldSince) {

  /** A page of sessions, by id. */
  public record Listing(List<SessionItem> sessions, Optional<String> nextCursor) {}

  /** Returns the item of a session as its store shows it. */
  public static SessionItem of(SessionView view) {
    return of(view, Optional.empty());
  }

  /**
   * Returns the item of a session.
   *
   * @param heldSince from the limits of its bot, for a store that does not record it
   */
  static SessionItem of(SessionView view, Optional<Instant> heldSince) {
    return new SessionItem(
        view.id().value(),
        word(view.status()),
        view.backlog(),
        view.headAge(),
        view.owner().map(Owner::name),
        view.epoch(),
        view.lockedUntil(),
        view.attempts(),
        view.blockedReason(),
        view.blockedSince(),
        view.heldSince().or(() -> view.owner().flatMap(owner -> heldSince)));
  }

  public static String word(SessionStatus status) {
    return status.name().toLowerCase(Locale.ROOT);
  }
}
