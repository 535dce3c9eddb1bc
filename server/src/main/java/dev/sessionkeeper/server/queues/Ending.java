package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.InvalidInput;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The end of one delivery: the fields that settlements of sessions and of receipts share.
 *
 * @param delay how long a retried or postponed message waits; the default is zero
 * @param reason the reason, for operators
 * @param error the error of a dead letter
 * @param keepRetrying whether to retry even after the queue's maximum delivery count
 */
record Ending(
    SettleAction action,
    Optional<Duration> delay,
    Optional<String> reason,
    Optional<String> error,
    Optional<Boolean> keepRetrying) {
  private static final Duration MAX_DELAY = Duration.ofDays(30);
  private static final String REJECTED = "rejected by its receiver";

  /** Reads the fields; call the supplier after {@link Fields#check}. */
  static Supplier<Ending> read(Fields in) {
    var action = in.required("action", SettleAction.decoder());
    var delay = in.optional("delay", Decode.duration(Duration.ZERO, MAX_DELAY));
    var reason = in.optional("reason", Decode.text(1000));
    var error = in.optional("error", Decode.text(4000));
    var keepRetrying = in.optional("keepRetrying", Decode.bool());
    return () ->
        new Ending(action.get(), delay.get(), reason.get(), error.get(), keepRetrying.get())
            .checked();
  }

  private Ending checked() {
    boolean comesAgain = action == SettleAction.RETRY || action == SettleAction.POSTPONE;
    refuse("delay", "goes with retry and postpone only", delay.isPresent() && !comesAgain);
    refuse(
        "reason",
        "does not go with complete",
        reason.isPresent() && action == SettleAction.COMPLETE);
    refuse(
        "error",
        "goes with deadLetter only",
        error.isPresent() && action != SettleAction.DEAD_LETTER);
    refuse(
        "keepRetrying",
        "goes with retry only",
        keepRetrying.isPresent() && action != SettleAction.RETRY);
    return this;
  }

  private static void refuse(String field, String why, boolean isWrong) {
    if (isWrong) {
      throw new InvalidInput(field, why);
    }
  }

  Settlement settlement() {
    return switch (action) {
      case COMPLETE -> Settlement.complete();
      case RETRY ->
          new Settlement.Retry(delayOrNone(), !keepRetrying.orElse(false), true, reason.orElse(""));
      case POSTPONE -> Settlement.postpone(delayOrNone(), reason.orElse(""));
      case DEAD_LETTER -> Settlement.deadLetter(reason.orElse(REJECTED), error.orElse(""));
      case PARK -> Settlement.park(reason.orElse(REJECTED));
    };
  }

  private Duration delayOrNone() {
    return delay.orElse(Duration.ZERO);
  }
}
