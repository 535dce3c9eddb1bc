package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A session that is carried in memory: its messages that are in nobody's hands, and who holds it.
 * Guarded by the lock of {@link CarriedSessions}.
 */
final class Carried {
  final SessionId id;
  final ArrayDeque<FoundMessage> messages = new ArrayDeque<>();
  @Nullable HeldLane holder;
  boolean isInLine;

  /** Where it stands among those that wait, lanes included. */
  long place;

  /** When the first of its messages is too old, or was. */
  Instant expires = Instant.MAX;

  /**
   * Something about it needs a lane: it is written down, and what comes meanwhile is left there.
   */
  boolean isUnusual;

  /** Its lane has to be looked at: its head may be due later, too old, or settled. */
  boolean isToBePlaced;

  /** While it is being written down. */
  @Nullable CompletableFuture<Void> writing;

  Carried(SessionId id) {
    this.id = id;
  }

  long head() {
    return messages.isEmpty() ? 0 : messages.getFirst().delivery().sequence();
  }

  /** The bytes of its messages that are in nobody's hands. */
  long bytes() {
    return messages.stream().mapToLong(FoundMessage::bytes).sum();
  }

  void add(FoundMessage found) {
    InOrder.add(messages, found, one -> one.delivery().sequence());
  }

  void beginWriting() {
    writing = new CompletableFuture<>();
  }

  void endWriting() {
    var ending = writing;
    writing = null;
    if (ending != null) {
      ending.complete(null);
    }
  }
}
