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
    for (var entry : queue.entries()) {
      entry.lock.lock();
      try {
        held += entry.held ? 1 : 0;
        if (entry.aside != null || !entry.messages.isEmpty()) {
          others.merge(statusOf(entry, queue.ticks().now()), 1L, Long::sum);
        }
        depth += entry.messages.size();
        var sent = entry.messages.isEmpty() ? now : entry.messages.get(0).enqueuedAt;
        oldest = sent.isBefore(oldest) ? sent : oldest;
      } finally {
        entry.lock.unlock();
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
        queue.entries().stream()
            .filter(entry -> behind.isEmpty() || entry.id.value().compareTo(behind.get()) > 0)
            .sorted(Comparator.comparing(entry -> entry.id))
            .map(this::view)
            .flatMap(Optional::stream)
            .filter(view -> status.isEmpty() || view.status() == status.get())
            .limit(request.limit() + 1L)
            .toList();
    return Page.of(found, request.limit(), view -> PageCursor.after(list, view.id().value()));
  }

  private Optional<SessionView> view(SessionEntry entry) {
    entry.lock.lock();
    try {
      long now = queue.ticks().now();
      boolean idle = !entry.held && entry.aside == null && entry.messages.isEmpty();
      return entry.gone || idle ? Optional.empty() : Optional.of(view(entry, now));
    } finally {
      entry.lock.unlock();
    }
  }

  private SessionView view(SessionEntry entry, long now) {
    var head = entry.messages.isEmpty() ? null : entry.messages.get(0);
    var status = statusOf(entry, now);
    var aside = Optional.ofNullable(entry.aside);
    return new SessionView(
        entry.id,
        status,
        entry.messages.size(),
        head == null ? Duration.ZERO : Duration.between(head.enqueuedAt, queue.ticks().instant()),
        Optional.ofNullable(entry.owner),
        entry.epoch,
        entry.held ? Optional.of(entry.lockedUntil(queue.ticks())) : Optional.empty(),
        head == null ? 0 : head.attempts + (entry.handed > 0 ? 1 : 0),
        aside.map(SessionEntry.Aside::reason).or(() -> whyWaiting(status, head)),
        aside.map(SessionEntry.Aside::since).or(() -> sinceWhen(status, head)),
        entry.held ? Optional.of(queue.ticks().wallAt(entry.takenAt)) : Optional.empty());
  }

  private static SessionStatus statusOf(SessionEntry entry, long now) {
    if (entry.aside != null) {
      return entry.aside.status();
    }
    if (entry.held) {
      return SessionStatus.HELD;
    }
    return entry.hasWork(now) ? SessionStatus.READY : SessionStatus.WAITING;
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
