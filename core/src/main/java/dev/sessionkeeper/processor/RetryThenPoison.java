package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.Settlement;
import java.time.Duration;
import org.slf4j.Logger;

/**
 * The default failure policy: retries with growing delays; after the last attempt the poison policy
 * decides.
 */
final class RetryThenPoison implements FailurePolicy {
  private static final Logger log = ProcessorLog.LOG;
  private static final int MAX_TEXT = 1000;

  private final RetryPolicy retry;
  private final PoisonPolicy poison;
  private final Jitter jitter;
  private final QueueMode mode;
  private final Runnable stop;

  RetryThenPoison(ProcessorOptions options, QueueSettings settings, Jitter jitter, Runnable stop) {
    this.retry = options.retry();
    this.poison = options.poisonPolicy().orElse(settings.poisonPolicy());
    this.mode = settings.mode();
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
    boolean stops = poison == PoisonPolicy.STOP;
    if (stops) {
      stop.run();
    }
    var delay = stops ? Duration.ZERO : jitter.delayAfter(retry, retry.maxAttempts());
    return poison.settlement(mode, error, Settlement.keepRetrying(delay, error));
  }

  private static String describe(Exception failure) {
    var text = failure.toString();
    return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT);
  }
}
