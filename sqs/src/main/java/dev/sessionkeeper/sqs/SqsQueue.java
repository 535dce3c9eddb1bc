package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * The state that all workers of one queue share.
 *
 * @param io threads for requests that may block for long
 */
record SqsQueue(
    QueueName name,
    Supplier<QueueSettings> settingsNow,
    SqsCalls calls,
    SqsCalls deadLetters,
    AttemptBook attempts,
    StoreClock clock,
    TimeSource time,
    Executor io,
    Optional<SessionStateStore> states) {
  static final String EXPIRED = "expired";
  private static final int LONGEST_HIDDEN = 43_200;

  QueueSettings settings() {
    return settingsNow.get();
  }

  int lockSeconds() {
    return seconds(settings().lockDuration());
  }

  /** Converts to whole seconds, as SQS counts, up to twelve hours. */
  static int seconds(Duration duration) {
    if (!duration.isPositive()) {
      return 0;
    }
    return (int) Math.min(LONGEST_HIDDEN, duration.plusNanos(999_999_999).toSeconds());
  }

  boolean isExpired(Received received) {
    var own = received.message().ttl().orElse(settings().messageTtl());
    var ttl = own.compareTo(settings().messageTtl()) < 0 ? own : settings().messageTtl();
    return !clock.now().isBefore(received.sentAt().plus(ttl));
  }

  /** Returns how long the message has to wait for its {@code notBefore}. */
  Duration dueIn(Received received) {
    return received
        .message()
        .notBefore()
        .map(at -> Duration.between(clock.now(), at))
        .orElse(Duration.ZERO);
  }

  /**
   * Writes the dead letter. The message is deleted from its queue afterwards and not before: after
   * a failure it exists twice, and is never lost. The copy's deduplication id makes repeated copies
   * one dead letter.
   */
  void setAside(Received received, int attempts, String reason, String error) {
    var dead = new HashMap<String, String>();
    dead.put("reason", reason);
    dead.put("error", error);
    dead.put("attempts", Integer.toString(attempts));
    dead.put("sequence", Long.toString(received.originalSequence()));
    dead.put("enqueued-at", received.sentAt().toString());
    dead.put("dead-at", clock.now().toString());
    dead.put("queue", name.value());
    var copy =
        MessageCodec.encode(
            received.message(),
            received.natives(),
            received.replays(),
            received.originalSequence(),
            dead);
    var id = Digest.of(received.messageId() + "~" + received.replays());
    var sent = deadLetters.send(List.of(copy.withDuplicateId(id)));
    var result = sent.get(0);
    if (result == null || result.isRefused()) {
      throw new KeeperException.Unavailable(
          "The dead-letter queue of " + name + (result == null ? "" : ", " + result.refusal()));
    }
  }
}
