package dev.sessionkeeper;

import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/** Repeats a call that failed, as its {@link RetryPolicy} says. */
public final class Retry {
  private Retry() {}

  /**
   * Work that may throw one checked exception.
   *
   * @param <T> its result
   * @param <E> the checked exception
   */
  @FunctionalInterface
  public interface Call<T, E extends Exception> {
    T run() throws E;
  }

  /**
   * Runs the call until it returns, throws a failure that must not be repeated, or has used the
   * attempts of the policy. Waits between attempts.
   *
   * @param isWorthRepeating returns whether another attempt can succeed after this failure
   * @return the result of the first attempt that succeeds
   * @throws E the failure of the last attempt
   * @throws KeeperException.Unavailable if the thread was interrupted while waiting
   */
  public static <T, E extends Exception> T call(
      RetryPolicy policy, Predicate<Exception> isWorthRepeating, Call<T, E> call) throws E {
    for (int attempt = 1; ; attempt++) {
      try {
        return call.run();
      } catch (Exception e) {
        if (!isWorthRepeating.test(e) || !policy.allowsAfter(attempt)) {
          throw e;
        }
        pause(policy, attempt, e);
      }
    }
  }

  private static void pause(RetryPolicy policy, int attempt, Exception failure) {
    try {
      Thread.sleep(policy.delayAfter(attempt, RandomGenerator.getDefault()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      var interrupted = new KeeperException.Unavailable("A call (interrupted between attempts)", e);
      interrupted.addSuppressed(failure);
      throw interrupted;
    }
  }
}
