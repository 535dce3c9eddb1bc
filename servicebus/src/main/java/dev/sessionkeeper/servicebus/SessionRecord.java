package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.SessionState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;

/**
 * Our record in the native state of a session, around the state of the application.
 *
 * <p>Service Bus has no fencing token, no version of the state, no delay of a retry, and no count
 * of attempts that ignores messages no handler saw. So they are in this record: written under the
 * session lock, read by the next owner, in any process.
 *
 * @param epoch of the last acquisition
 * @param head the sequence number of the message that the record is about; 0 if there is none
 * @param failures how often that message has failed
 * @param inHand whether an owner was delivered the message and has not settled it
 * @param dueAt when that message may be retried, in milliseconds since 1970
 * @param lastError its last error; may be blank
 * @param state of the application
 */
record SessionRecord(
    long epoch,
    long head,
    int failures,
    boolean inHand,
    long dueAt,
    String lastError,
    SessionState state) {
  static final SessionRecord NONE = new SessionRecord(0, 0, 0, false, 0, "", SessionState.none());

  private static final int MAGIC = 0x534b_0001;
  private static final int MAX_ERROR = 1000;

  SessionRecord withState(SessionState newState) {
    return new SessionRecord(epoch, head, failures, inHand, dueAt, lastError, newState);
  }

  /**
   * Returns the record for a new owner without open deliveries.
   *
   * @param expired returns whether the broker says that the message's last lock expired; asked only
   *     if this process does not know
   */
  SessionRecord taken(long newEpoch, long newHead, boolean expired) {
    if (head != newHead) {
      return new SessionRecord(newEpoch, newHead, expired ? 1 : 0, false, 0, "", state);
    }
    return inHand
        ? new SessionRecord(newEpoch, head, failures + 1, false, 0, lastError, state)
        : new SessionRecord(newEpoch, head, failures, false, dueAt, lastError, state);
  }

  /** Returns the record with this message open. */
  SessionRecord handedOut(long message) {
    return head == message
        ? new SessionRecord(epoch, head, failures, true, dueAt, lastError, state)
        : new SessionRecord(epoch, message, 0, true, 0, "", state);
  }

  SessionRecord failed(long failedHead, int newFailures, long newDueAt, String error) {
    return new SessionRecord(epoch, failedHead, newFailures, false, newDueAt, error, state);
  }

  /**
   * Returns whether the last failure was a retry that a handler asked for, and not a lost owner.
   */
  boolean keepsTrying() {
    return dueAt > 0;
  }

  SessionRecord givenBack() {
    return new SessionRecord(epoch, head, failures, false, dueAt, lastError, state);
  }

  /**
   * Returns whether the session can do without a record.
   *
   * @param nextEpoch the lowest epoch that it would have then
   */
  boolean isForgettable(long completedUpTo, long nextEpoch) {
    return state.bytes().length == 0
        && (failures == 0 || head <= completedUpTo)
        && epoch < nextEpoch;
  }

  byte[] encode() {
    var bytes = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(bytes)) {
      out.writeInt(MAGIC);
      out.writeLong(epoch);
      out.writeLong(head);
      out.writeInt(failures);
      out.writeBoolean(inHand);
      out.writeLong(dueAt);
      out.writeUTF(lastError.length() > MAX_ERROR ? lastError.substring(0, MAX_ERROR) : lastError);
      out.writeLong(state.version());
      out.write(state.bytes());
    } catch (IOException e) {
      throw new UncheckedIOException("Memory does not fail", e);
    }
    return bytes.toByteArray();
  }

  /** Decodes a record; bytes of another program count as state of the application. */
  static SessionRecord decode(byte[] bytes) {
    if (bytes.length == 0) {
      return NONE;
    }
    try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      if (bytes.length < Integer.BYTES || in.readInt() != MAGIC) {
        return NONE.withState(new SessionState(bytes, 1));
      }
      long epoch = in.readLong();
      long head = in.readLong();
      int failures = in.readInt();
      boolean inHand = in.readBoolean();
      long dueAt = in.readLong();
      String lastError = in.readUTF();
      long version = in.readLong();
      return new SessionRecord(
          epoch,
          head,
          failures,
          inHand,
          dueAt,
          lastError,
          new SessionState(in.readAllBytes(), version));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "A session state of " + bytes.length + " bytes is cut off: " + Arrays.hashCode(bytes), e);
    }
  }
}
