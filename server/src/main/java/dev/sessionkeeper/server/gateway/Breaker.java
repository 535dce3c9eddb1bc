package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.webhook.WebhookResult;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import java.time.Duration;
import java.time.ZoneOffset;

/**
 * Keeps a bot's messages back while its endpoint is dead. They wait in hand and count no attempt.
 * Every time the circuit has been open for long enough, two of them try whether the endpoint is
 * back.
 *
 * <p>An endpoint that answers is alive, whatever it says about one message; only silence and server
 * errors count.
 */
final class Breaker {
  private static final int WINDOW = 20;
  private static final int AT_LEAST = 10;
  private static final float FAILING_PERCENT = 75;
  private static final int PROBES = 2;
  private static final Duration LOOK_AGAIN = Duration.ofMillis(200);

  private final CircuitBreaker circuit;
  private final Duration longest;
  private final Duration openFor;
  private final TimeSource time;

  /**
   * Prepares.
   *
   * @param openFor how long nothing is tried
   * @param longest how long one message waits in hand before its session is released
   */
  Breaker(String bot, Duration openFor, Duration longest, BotMeters meters, TimeSource time) {
    this.openFor = openFor;
    this.longest = longest;
    this.time = time;
    circuit =
        CircuitBreaker.of(
            bot,
            CircuitBreakerConfig.custom()
                .slidingWindow(WINDOW, AT_LEAST, SlidingWindowType.COUNT_BASED)
                .failureRateThreshold(FAILING_PERCENT)
                .permittedNumberOfCallsInHalfOpenState(PROBES)
                .waitDurationInOpenState(openFor)
                .clock(time.withZone(ZoneOffset.UTC))
                .build());
    circuit
        .getEventPublisher()
        .onStateTransition(
            event ->
                meters.circuit(
                    event.getStateTransition().getToState() == CircuitBreaker.State.OPEN));
  }

  /** Waits until a request may go out; false when that takes too long for one hold. */
  boolean await() throws InterruptedException {
    long started = time.nanoTime();
    while (!isPermitted()) {
      if (time.since(started).compareTo(longest) > 0) {
        return false;
      }
      Pauses.pause(time, LOOK_AGAIN);
    }
    return true;
  }

  private boolean isPermitted() {
    try {
      circuit.acquirePermission();
      return true;
    } catch (CallNotPermittedException notYet) {
      return false;
    }
  }

  /** How long a message stays away that was in hand for too long. */
  Duration pause() {
    return openFor;
  }

  /** The permitted request was not made. */
  void withdraw() {
    circuit.releasePermission();
  }

  void record(WebhookResult result) {
    switch (result) {
      case WebhookResult.Delivered delivered -> alive();
      case WebhookResult.Refused refused -> {
        if (refused.status() >= 500 && !PushMessages.asksToWait(refused)) {
          dead("answered " + refused.status());
        } else {
          alive();
        }
      }
      case WebhookResult.Unreachable no -> dead(no.reason());
      case WebhookResult.Forbidden no -> circuit.releasePermission();
    }
  }

  private void alive() {
    circuit.onSuccess(0, java.util.concurrent.TimeUnit.NANOSECONDS);
  }

  private void dead(String reason) {
    circuit.onError(0, java.util.concurrent.TimeUnit.NANOSECONDS, new PushFailed(reason));
  }
}
