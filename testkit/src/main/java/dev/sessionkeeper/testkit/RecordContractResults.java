package dev.sessionkeeper.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Collects the result of each contract rule for a provider, and writes them to {@code
 * target/contract}. The capability table of the documentation is generated from these files.
 */
final class RecordContractResults
    implements BeforeAllCallback, AfterEachCallback, TestWatcher, AfterAllCallback {
  private static final Namespace NAMESPACE = Namespace.create(RecordContractResults.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    context.getStore(NAMESPACE).put(ContractResults.class, new ContractResults());
  }

  @Override
  public void afterEach(ExtensionContext context) {
    // Only the fixture knows the name, and it is gone when the class ends.
    context
        .getTestInstance()
        .filter(ContractFixture.class::isInstance)
        .map(ContractFixture.class::cast)
        .ifPresent(fixture -> results(context).name(fixture.resultName()));
  }

  @Override
  public void testSuccessful(ExtensionContext context) {
    ruleOf(context).ifPresent(rule -> results(context).passed(rule));
  }

  @Override
  public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
    ruleOf(context).ifPresent(rule -> results(context).failed(rule));
  }

  @Override
  public void testAborted(ExtensionContext context, @Nullable Throwable cause) {
    var reason = Optional.ofNullable(cause).map(Throwable::getMessage).orElse("aborted");
    ruleOf(context).ifPresent(rule -> results(context).skipped(rule, reason));
  }

  @Override
  public void testDisabled(ExtensionContext context, Optional<String> reason) {
    ruleOf(context).ifPresent(rule -> results(context).skipped(rule, reason.orElse("disabled")));
  }

  @Override
  public void afterAll(ExtensionContext context) {
    var results = results(context);
    var file = Path.of("target", "contract", results.name() + ".json");
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.writeString(file, results.toJson());
    } catch (IOException e) {
      throw new UncheckedIOException("The contract results could not be written to " + file, e);
    }
  }

  private static ContractResults results(ExtensionContext context) {
    return context
        .getStore(NAMESPACE)
        .getOrDefault(ContractResults.class, ContractResults.class, new ContractResults());
  }

  private static Optional<String> ruleOf(ExtensionContext context) {
    return context
        .getTestMethod()
        .map(method -> method.getAnnotation(ContractRule.class))
        .map(ContractRule::value);
  }
}
