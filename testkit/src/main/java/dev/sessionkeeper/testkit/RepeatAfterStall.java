package dev.sessionkeeper.testkit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Objects;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * Repeats a failed test if the machine stalled during it.
 *
 * <p>In real time a lease of one second correctly expires while the machine stalls for a second, so
 * such a failure says nothing about the provider. A failure without a stall counts at once, and so
 * does a failure of every repetition.
 */
final class RepeatAfterStall implements InvocationInterceptor {
  private static final int TRIES = 5;

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> called,
      ExtensionContext context)
      throws Throwable {
    long start = WatchForStalls.begin();
    try {
      invocation.proceed();
    } catch (TestAbortedException skipped) {
      throw skipped;
    } catch (Throwable failure) {
      var fixture = (ContractFixture) context.getRequiredTestInstance();
      if (!fixture.runsInRealTime() || !WatchForStalls.anySince(start)) {
        throw failure;
      }
      repeat(fixture, called, failure);
    }
  }

  private static void repeat(
      ContractFixture fixture, ReflectiveInvocationContext<Method> called, Throwable first)
      throws Throwable {
    var method = called.getExecutable();
    method.setAccessible(true);
    for (int attempt = 2; ; attempt++) {
      long start = WatchForStalls.begin();
      try {
        fixture.reopen();
        method.invoke(fixture, called.getArguments().toArray());
        return;
      } catch (InvocationTargetException e) {
        var failure = Objects.requireNonNullElse(e.getCause(), e);
        if (attempt == TRIES || !WatchForStalls.anySince(start)) {
          failure.addSuppressed(first);
          throw failure;
        }
      }
    }
  }
}
