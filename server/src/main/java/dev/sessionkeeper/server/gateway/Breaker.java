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
 * Holds a bot's messages back while its endpoint does not answer. The messages stay open and count
 * no attempt. Whenever the circuit has been open for a while, two messages probe the endpoint.
 *
 * <p>Only silence and server errors open the circuit. An endpoint that refuses one message is
 * alive.
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
   * Creates a closed circuit breaker.
   *
   * @param openFor how long the circuit stays open before a probe
   * @param longest how long one message waits before its session is released
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

  /** Waits until a request may be sent. Returns false if that takes longer than one hold allows. */
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

  /** Returns how long to postpone a message that waited too long. */
  Duration pause() {
    return openFor;
  }

  /** Gives back a permission that was not used. */
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
