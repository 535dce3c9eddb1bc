package dev.sessionkeeper.testkit;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.opentest4j.TestAbortedException;

/** Repeats a {@link TestInRealTime} until one attempt counts. */
final class TryAgainAfterStall implements TestTemplateInvocationContextProvider {
  private static final int TRIES = 5;

  @Override
  public boolean supportsTestTemplate(ExtensionContext context) {
    return true;
  }

  @Override
  public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(
      ExtensionContext context) {
    var isAgain = new AtomicBoolean(true);
    // Each attempt is requested when the previous one has ended.
    return IntStream.rangeClosed(1, TRIES)
        .takeWhile(number -> isAgain.getAndSet(false))
        .mapToObj(number -> new Try(number, isAgain));
  }

  private record Try(int number, AtomicBoolean isAgain)
      implements TestTemplateInvocationContext, BeforeEachCallback, TestExecutionExceptionHandler {
    private static final String START = "start";

    @Override
    public String getDisplayName(int invocationIndex) {
      return "try " + number;
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
      return List.of(this);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
      context.getStore(namespace()).put(START, WatchForStalls.begin());
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure)
        throws Throwable {
      long start = context.getStore(namespace()).getOrDefault(START, Long.class, 0L);
      if (number == TRIES
          || failure instanceof TestAbortedException
          || !WatchForStalls.anySince(start)) {
        throw failure;
      }
      isAgain.set(true);
      throw new TestAbortedException("The machine stood still meanwhile: " + failure, failure);
    }

    private static ExtensionContext.Namespace namespace() {
      return ExtensionContext.Namespace.create(TryAgainAfterStall.class);
    }
  }
}
