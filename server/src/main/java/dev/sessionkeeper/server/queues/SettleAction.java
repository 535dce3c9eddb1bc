package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import dev.sessionkeeper.server.json.InvalidInput;
import java.time.Duration;
import java.util.Optional;

/** How a delivery ends, as the API says it. */
enum SettleAction {
  COMPLETE("complete"),
  RETRY("retry"),
  DEAD_LETTER("deadLetter");

  /** The longest a message may be sent back for. */
  static final Duration MAX_DELAY = Duration.ofDays(30);

  private final String word;

  SettleAction(String word) {
    this.word = word;
  }

  static Decoder<SettleAction> decoder() {
    return Decode.oneOf(Decode.words(SettleAction.class, SettleAction::toString));
  }

  Settlement settlement(Optional<Duration> delay, Optional<String> reason) {
    return switch (this) {
      case COMPLETE -> Settlement.complete();
      case RETRY -> Settlement.retryAfter(delay.orElse(Duration.ZERO), reason.orElse(""));
      case DEAD_LETTER -> Settlement.deadLetter(reason.orElse("rejected by its receiver"));
    };
  }

  void refuseWhatDoesNotFit(Optional<Duration> delay, Optional<String> reason) {
    if (this != RETRY && delay.isPresent()) {
      throw new InvalidInput("delay", "goes with retry only");
    }
    if (this == COMPLETE && reason.isPresent()) {
      throw new InvalidInput("reason", "goes with retry and deadLetter only");
    }
  }

  @Override
  public String toString() {
    return word;
  }
}
