package dev.sessionkeeper.memory;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Lists the sessions of an ordered queue for operators. */
final class InspectSessions {
  private final OrderedQueue queue;

  InspectSessions(OrderedQueue queue) {
    this.queue = queue;
  }

  QueueStats stats() {
    queue.runDue();
    var now = queue.ticks().instant();
    var oldest = now;
    long depth = 0;
    int held = 0;
    var others = new EnumMap<SessionStatus, Long>(SessionStatus.class);
    // Counted here and not as messages pass: inspections are rare, and may take longer.
    for (var lane : queue.lanes()) {
      lane.lock.lock();
      try {
        held += lane.held ? 1 : 0;
        if (lane.aside != null || !lane.messages.isEmpty()) {
          others.merge(statusOf(lane, queue.ticks().now()), 1L, Long::sum);
        }
        depth += lane.messages.size();
        var sent = lane.messages.isEmpty() ? now : lane.messages.get(0).enqueuedAt;
        oldest = sent.isBefore(oldest) ? sent : oldest;
      } finally {
        lane.lock.unlock();
      }
    }
    return new QueueStats(
        depth,
        queue.readyCount(),
        held,
        queue.books().shelf.size(),
        Duration.between(oldest, now),
        others.getOrDefault(SessionStatus.WAITING, 0L),
        others.getOrDefault(SessionStatus.PARKED, 0L),
        others.getOrDefault(SessionStatus.PAUSED, 0L));
  }

  Page<SessionView> page(Optional<SessionStatus> status, Page.Request request) {
    queue.runDue();
    var list = "sessions/" + queue.books().queue;
    var behind = request.cursor().map(cursor -> PageCursor.keyOf(list, 1, cursor).get(0));
    var found =
        queue.lanes().stream()
            .filter(lane -> behind.isEmpty() || lane.id.value().compareTo(behind.get()) > 0)
            .sorted(Comparator.comparing(lane -> lane.id))
            .map(this::view)
            .flatMap(Optional::stream)
            .filter(view -> status.isEmpty() || view.status() == status.get())
            .limit(request.limit() + 1L)
            .toList();
    return Page.of(found, request.limit(), view -> PageCursor.after(list, view.id().value()));
  }

  private Optional<SessionView> view(Lane lane) {
    lane.lock.lock();
    try {
      long now = queue.ticks().now();
      boolean idle = !lane.held && lane.aside == null && lane.messages.isEmpty();
      return lane.gone || idle ? Optional.empty() : Optional.of(view(lane, now));
    } finally {
      lane.lock.unlock();
    }
  }

  private SessionView view(Lane lane, long now) {
    var head = lane.messages.isEmpty() ? null : lane.messages.get(0);
    var status = statusOf(lane, now);
    var aside = Optional.ofNullable(lane.aside);
    return new SessionView(
        lane.id,
        status,
        lane.messages.size(),
        head == null ? Duration.ZERO : Duration.between(head.enqueuedAt, queue.ticks().instant()),
        Optional.ofNullable(lane.owner),
        lane.epoch,
        lane.held ? Optional.of(lane.lockedUntil(queue.ticks())) : Optional.empty(),
        head == null ? 0 : head.attempts + (lane.handed > 0 ? 1 : 0),
        aside.map(Lane.Aside::reason).or(() -> whyWaiting(status, head)),
        aside.map(Lane.Aside::since).or(() -> sinceWhen(status, head)),
        lane.held ? Optional.of(queue.ticks().wallAt(lane.takenAt)) : Optional.empty());
  }

  private static SessionStatus statusOf(Lane lane, long now) {
    if (lane.aside != null) {
      return lane.aside.status();
    }
    if (lane.held) {
      return SessionStatus.HELD;
    }
    return lane.hasWork(now) ? SessionStatus.READY : SessionStatus.WAITING;
  }

  private static Optional<String> whyWaiting(SessionStatus status, @Nullable Stored head) {
    if (status != SessionStatus.WAITING || head == null) {
      return Optional.empty();
    }
    return Optional.of(
        head.trouble == null
            ? "its first message waits for its earliest time"
            : head.lastError().isEmpty()
                ? "its first message waits for its retry"
                : "its first message waits for its retry: " + head.lastError());
  }

  private static Optional<Instant> sinceWhen(SessionStatus status, @Nullable Stored head) {
    if (status != SessionStatus.WAITING || head == null) {
      return Optional.empty();
    }
    return Optional.of(head.trouble == null ? head.enqueuedAt : head.trouble.since());
  }
}
