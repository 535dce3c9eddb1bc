package dev.sessionkeeper.postgres.batch;

import dev.sessionkeeper.SessionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A message batch as it was read, and which of its messages are open: neither completed nor rows of
 * their own. Guarded by the lock of {@link OpenBatches}.
 */
public final class MessageBatch {
  /** The most messages of a batch: a bit for each. */
  public static final int MOST_MESSAGES = Long.SIZE;

  final long first;

  /**
   * Whether other readers have messages of this batch too. Then its own bits say what is completed.
   */
  final boolean isShared;

  private final SessionId[] sessions;
  private long open;

  /** Its messages in the settlement that was told apart last, if it has any there. */
  private long mask;

  private @Nullable CompletedMessages maskOf;

  /** The completion records that have what is completed of this batch beside its own bits. */
  final List<CompletionRecords.CompletionRecord> notes = new ArrayList<>(2);

  /**
   * A batch as it was read.
   *
   * @param done the messages that are completed, are rows, or belong to another reader
   * @param isShared whether other readers have messages of it too
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

  /** Returns the bits of messages that are completed or rows. */
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

  /** A settlement completes it; whether that is its first message there. */
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

  /** Whether the settlement completes all that is open. */
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
