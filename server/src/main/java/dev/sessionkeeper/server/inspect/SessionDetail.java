package dev.sessionkeeper.server.inspect;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.server.json.RawJson;
import dev.sessionkeeper.spi.SessionView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * One session in detail.
 *
 * @param status ready, held, waiting, parked, paused, or finished if nothing is left of it
 * @param why explains why the session does not move
 */
record SessionDetail(
    String queue,
    String sessionId,
    String status,
    String why,
    long backlog,
    Duration headAge,
    Optional<String> owner,
    long epoch,
    Optional<Instant> lockedUntil,
    int attempts,
    int maxDeliveryCount,
    PoisonPolicy poisonPolicy,
    Optional<String> blockedReason,
    Optional<Instant> blockedSince) {
  static final String FINISHED = "finished";

  static SessionDetail of(String queue, String session, WhyBlocked.Known known) {
    var view = known.view();
    return new SessionDetail(
        queue,
        session,
        view.map(one -> one.status().name().toLowerCase(Locale.ROOT)).orElse(FINISHED),
        WhyBlocked.explain(known),
        view.map(SessionView::backlog).orElse(0L),
        view.map(SessionView::headAge).orElse(Duration.ZERO),
        view.flatMap(SessionView::owner).map(Owner::name),
        view.map(SessionView::epoch).orElse(0L),
        view.flatMap(SessionView::lockedUntil),
        view.map(SessionView::attempts).orElse(0),
        known.settings().maxDeliveryCount(),
        known.settings().poisonPolicy(),
        view.flatMap(SessionView::blockedReason),
        view.flatMap(SessionView::blockedSince));
  }

  /** A waiting message, in the order of the session. */
  record Waiting(
      long sequence,
      String messageId,
      Optional<RawJson> body,
      Optional<String> bodyText,
      Optional<String> bodyBase64,
      long bodyBytes,
      String contentType,
      Map<String, String> properties,
      int attempts,
      Instant enqueuedAt,
      Optional<Instant> dueAt,
      Optional<String> lastError) {}

  /** A page of waiting messages. */
  record Messages(List<Waiting> messages, Optional<String> nextCursor) {}

  /** The state of a session; its version is 0 if no state was ever written. */
  record State(
      long version,
      long size,
      Optional<Instant> updatedAt,
      Optional<RawJson> json,
      Optional<String> text,
      Optional<String> base64) {}

  /**
   * An event in a session's history.
   *
   * @param kind sent, failed, postponed, dead, act or event
   * @param text one line
   * @param detail further lines
   */
  record Moment(
      Instant at,
      String kind,
      String text,
      Optional<String> detail,
      Optional<Long> sequence,
      Optional<String> deadLetterId,
      Optional<String> eventId) {}

  /** The events of the session, newest first. */
  record Timeline(List<Moment> moments, boolean hasMore) {}
}
