package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.lease.Hold;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.postgres.row.SequenceOrder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A cached session: its messages that were not handed out, and its hold. Guarded by the lock of
 * {@link CachedSessions}.
 */
public final class CachedSession {
  final SessionId id;
  final ArrayDeque<FoundMessage> messages = new ArrayDeque<>();
  @Nullable Hold holder;
  boolean isInLine;

  /** The position in the order of waiting sessions, which counts sessions with rows too. */
  long place;

  /** When the first of its messages expires, or expired. */
  Instant expires = Instant.MAX;

  /** Whether the session must be persisted. Messages that arrive until then are left to the row. */
  boolean needsRow;

  /** Whether its row must be checked: the head may be due later, expired, or settled. */
  boolean mustCheckRow;

  /** Set while the session is being persisted. */
  @Nullable CompletableFuture<Void> writing;

  /** When the first of its messages for later becomes due, if it has any. */
  private OptionalLong dueAt = OptionalLong.empty();

  CachedSession(SessionId id) {
    this.id = id;
  }

  long head() {
    return messages.isEmpty() ? 0 : messages.getFirst().delivery().sequence();
  }

  /** Returns the bytes of its messages that were not handed out. */
  long bytes() {
    return messages.stream().mapToLong(FoundMessage::bytes).sum();
  }

  void add(FoundMessage found) {
    SequenceOrder.add(messages, found, one -> one.delivery().sequence());
  }

  /** Records that a message becomes due then, by the process's clock. */
  void addDue(long nanoTime) {
    if (dueAt.isEmpty() || nanoTime - dueAt.getAsLong() < 0) {
      dueAt = OptionalLong.of(nanoTime);
    }
  }

  /** Returns how long the first message for later still has to wait, if there is one. */
  Optional<Duration> dueWithin(long now) {
    return dueAt.isPresent()
        ? Optional.of(Duration.ofNanos(Math.max(0, dueAt.getAsLong() - now)))
        : Optional.empty();
  }

  void beginPersisting() {
    writing = new CompletableFuture<>();
  }

  void endPersisting() {
    var ending = writing;
    writing = null;
    if (ending != null) {
      ending.complete(null);
    }
  }
}
