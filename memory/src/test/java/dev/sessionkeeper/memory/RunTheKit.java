package dev.sessionkeeper.memory;

import dev.sessionkeeper.testkit.ContractRule;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the kit inside a test and returns which rules passed and which failed. */
final class RunTheKit {
  private final Set<String> kept = new TreeSet<>();
  private final Set<String> broken = new TreeSet<>();
  private int tests;

  private RunTheKit() {}

  /**
   * Runs the kit.
   *
   * @param patience the time limit of one test, because a broken provider may never answer
   */
  static RunTheKit on(Class<?> contract, Duration patience) {
    var run = new RunTheKit();
    var request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClass(contract))
            .configurationParameter(
                "junit.jupiter.execution.timeout.testable.method.default",
                patience.toSeconds() + " s")
            .configurationParameter(
                "junit.jupiter.execution.timeout.thread.mode.default", "SEPARATE_THREAD")
            .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
            .configurationParameter("junit.jupiter.execution.parallel.mode.default", "concurrent")
            .build();
    LauncherFactory.create().execute(request, run.listener());
    return run;
  }

  Set<String> broken() {
    return broken;
  }

  /** Returns the rules of which every test passed. */
  Set<String> kept() {
    var all = new TreeSet<>(kept);
    all.removeAll(broken);
    return all;
  }

  int tests() {
    return tests;
  }

  private TestExecutionListener listener() {
    return new TestExecutionListener() {
      @Override
      public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        ruleOf(test).ifPresent(rule -> ended(rule, result));
      }
    };
  }

  private synchronized void ended(String rule, TestExecutionResult result) {
    tests++;
    (result.getStatus() == TestExecutionResult.Status.SUCCESSFUL ? kept : broken).add(rule);
  }

  private static Optional<String> ruleOf(TestIdentifier test) {
    return test.getSource()
        .filter(MethodSource.class::isInstance)
        .map(source -> ((MethodSource) source).getJavaMethod())
        .map(method -> method.getAnnotation(ContractRule.class))
        .map(ContractRule::value);
  }
}
