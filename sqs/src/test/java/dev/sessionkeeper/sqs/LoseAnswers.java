package dev.sessionkeeper.sqs;

import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/** Breaks some calls before they are sent, and some after SQS has executed them. */
final class LoseAnswers implements ExecutionInterceptor {
  private final Random random;
  private final AtomicInteger count = new AtomicInteger();
  private volatile int oneOf = Integer.MAX_VALUE;

  LoseAnswers(long seed) {
    random = new Random(seed);
  }

  /** Breaks one of so many calls from now on, before and after. */
  void begin(int part) {
    oneOf = part;
  }

  void end() {
    oneOf = Integer.MAX_VALUE;
  }

  int count() {
    return count.get();
  }

  @Override
  public void beforeTransmission(
      Context.BeforeTransmission context, ExecutionAttributes attributes) {
    breakSome("The connection was refused");
  }

  @Override
  public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
    breakSome("The connection was cut");
  }

  private void breakSome(String how) {
    boolean hit;
    synchronized (random) {
      hit = oneOf != Integer.MAX_VALUE && random.nextInt(oneOf) == 0;
    }
    if (hit) {
      count.incrementAndGet();
      throw RetryableException.create(how + ", as the test wants it", new java.io.IOException(how));
    }
  }
}
