package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.KeeperException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a wrong configuration at start-up without a stack trace. */
final class MisconfiguredFailureAnalyzer
    extends AbstractFailureAnalyzer<KeeperException.Misconfigured> {

  @Override
  protected FailureAnalysis analyze(Throwable root, KeeperException.Misconfigured cause) {
    return new FailureAnalysis(
        String.valueOf(cause.getMessage()),
        "Correct the settings or dependencies that the description names.",
        cause);
  }
}
