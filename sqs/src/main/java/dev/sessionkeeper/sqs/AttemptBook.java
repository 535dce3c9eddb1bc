package dev.sessionkeeper.sqs;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counts how often each message has failed, as far as this process knows.
 *
 * <p>SQS counts every receive, also of messages that no handler saw. Here an attempt counts for the
 * first open message of a lost hold, and for a message that was settled as a retry. Receives of
 * other processes may have been attempts or not: they raise the attempt number, but a message is
 * tried at least once here before it can become a dead letter. The newest {@value #REMEMBERED}
 * messages are remembered.
 */
final class AttemptBook {
  private static final int REMEMBERED = 100_000;

  private final LinkedHashMap<String, Line> entries =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Line> eldest) {
          return size() > REMEMBERED;
        }
      };

  /**
   * The known attempts of a message that was just received.
   *
   * @param failures how often it has certainly failed
   * @param elsewhere how often other processes have received it, whether they handled it or not
   */
  record Known(int failures, int elsewhere, boolean keepsTrying, String lastError) {}

  /** Records that the message was received, for the n-th time by SQS's count. */
  synchronized Known received(String messageId, int receives) {
    var entry = entries.computeIfAbsent(messageId, unseen -> new Line());
    entry.elsewhere += Math.max(0, receives - entry.receives - 1);
    if (entry.inHand) {
      entry.failures++;
      entry.keepsTrying = false;
    }
    entry.receives = receives;
    entry.inHand = false;
    return new Known(entry.failures, entry.elsewhere, entry.keepsTrying, entry.lastError);
  }

  /**
   * Records that the message is the first open one of its owner: if the owner is lost now, that was
   * an attempt.
   */
  synchronized void inHand(String messageId, boolean isInHand) {
    var entry = entries.get(messageId);
    if (entry != null) {
      entry.inHand = isInHand;
    }
  }

  /**
   * Records that its owner asked for a retry.
   *
   * @param tried 1 if the delivery counts as an attempt, 0 if it was postponed
   */
  synchronized void again(String messageId, int tried, String error) {
    var entry = entries.get(messageId);
    if (entry != null) {
      entry.failures += tried;
      entry.inHand = false;
      entry.keepsTrying = true;
      entry.lastError = error;
    }
  }

  synchronized void forget(String messageId) {
    entries.remove(messageId);
  }

  private static final class Line {
    private int receives;
    private int failures;
    private int elsewhere;
    private boolean inHand;
    private boolean keepsTrying;
    private String lastError = "";
  }
}
