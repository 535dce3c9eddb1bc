package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.Settlement;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The failure policy unless another is given: try again, later every time, then the poison policy.
 */
final class RetryThenPoison implements FailurePolicy {
  private static final Logger log = LoggerFactory.getLogger(SessionProcessor.class);
  private static final String USED_UP = "max delivery count reached";
  private static final int MAX_TEXT = 1000;

  private final RetryPolicy retry;
  private final PoisonPolicy poison;
  private final Jitter jitter;
  private final Runnable stop;

  RetryThenPoison(RetryPolicy retry, PoisonPolicy poison, Jitter jitter, Runnable stop) {
    this.retry = retry;
    this.poison = poison;
    this.jitter = jitter;
    this.stop = stop;
  }

  @Override
  public Settlement onFailure(Delivery delivery, Exception failure) {
    var error = describe(failure);
    if (retry.allowsAfter(delivery.attempt())) {
      log.debug("Attempt {} of message {} failed", delivery.attempt(), delivery.id(), failure);
      return Settlement.keepRetrying(jitter.delayAfter(retry, delivery.attempt()), error);
    }
    return poisoned(delivery, error, failure);
  }

  private Settlement poisoned(Delivery delivery, String error, Exception failure) {
    log.warn(
        "Message {} failed {} times, the poison policy {} decides: {}",
        delivery.id(),
        delivery.attempt(),
        poison,
        error,
        failure);
    return switch (poison) {
      case DEAD_LETTER -> Settlement.deadLetter(USED_UP, error);
      case PARK_SESSION -> Settlement.park(USED_UP + ": " + error);
      case BLOCK -> Settlement.keepRetrying(jitter.delayAfter(retry, retry.maxAttempts()), error);
      case STOP -> {
        stop.run();
        yield Settlement.keepRetrying(Duration.ZERO, error);
      }
    };
  }

  private static String describe(Exception failure) {
    var text = failure.toString();
    return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT);
  }
}
