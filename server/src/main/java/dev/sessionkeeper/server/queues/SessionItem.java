package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A session as the inspector shows it: where it stands, and why it does not move. */
record SessionItem(
    String sessionId,
    String status,
    long backlog,
    Duration headAge,
    Optional<String> owner,
    long epoch,
    Optional<Instant> lockedUntil,
    int attempts,
    Optional<String> blockedReason,
    Optional<Instant> blockedSince) {

  /** A page of sessions, by id. */
  record Listing(List<SessionItem> sessions, Optional<String> nextCursor) {}

  static SessionItem of(SessionView view) {
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
        view.blockedSince());
  }

  static String word(SessionStatus status) {
    return status.name().toLowerCase(Locale.ROOT);
  }
}
