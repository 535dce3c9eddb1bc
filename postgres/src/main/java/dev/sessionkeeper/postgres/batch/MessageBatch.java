package dev.sessionkeeper.postgres.batch;

import dev.sessionkeeper.SessionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A message batch that was read, and which of its messages are neither completed nor rows of their
 * own. Guarded by the lock of {@link OpenBatches}.
 */
public final class MessageBatch {
  /** The most messages of a batch: a bit for each. */
  public static final int MOST_MESSAGES = Long.SIZE;

  final long first;

  /**
   * Whether other readers have messages of this batch too. Then the bits of its row, and no
   * completion record, tell which messages are completed.
   */
  final boolean isShared;

  private final SessionId[] sessions;
  private long open;

  /** The messages that the current settlement completes. */
  private long mask;

  private @Nullable CompletedMessages maskOf;

  /** The completion records with completions of this batch, in addition to its own bits. */
  final List<CompletionRecords.CompletionRecord> notes = new ArrayList<>(2);

  /**
   * A batch as it was read.
   *
   * @param done the messages that are completed, have rows of their own, or belong to another
   *     reader
   * @param isShared whether other readers have messages of the batch too
   */
  MessageBatch(long first, SessionId[] sessions, long done, boolean isShared) {
    this.first = first;
    this.sessions = sessions;
    this.isShared = isShared;
    this.open = ~done & all();
  }

  private long all() {
    return -1L >>> (MOST_MESSAGES - sessions.length);
  }

  /** Returns the bits of messages that are completed or have rows of their own. */
  long done() {
    return ~open & all();
  }

  boolean isDone() {
    return open == 0;
  }

  boolean isOpen(long sequence) {
    long place = sequence - first;
    return place < sessions.length && (open >>> place & 1) == 1;
  }

  /**
   * Records that the settlement completes this message. Returns whether it is the settlement's
   * first message of the batch.
   */
  boolean complete(long sequence, CompletedMessages settlement) {
    boolean isFirst = maskOf != settlement;
    if (isFirst) {
      maskOf = settlement;
      mask = 0;
    }
    mask |= 1L << (sequence - first);
    return isFirst;
  }

  /** Returns the bits that the settlement completes. */
  long mask() {
    return mask;
  }

  /** Returns whether the settlement completes all open messages. */
  boolean isWhole() {
    return open == mask;
  }

  void close(long bits) {
    open &= ~bits;
  }

  /** Returns the bits of open messages of these sessions. */
  long bitsOf(Set<SessionId> chosen) {
    long bits = 0;
    for (int i = 0; i < sessions.length; i++) {
      bits |= chosen.contains(sessions[i]) ? 1L << i : 0;
    }
    return bits & open;
  }
}
