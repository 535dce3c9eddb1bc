package dev.sessionkeeper.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that select a page of a list. */
final class Paging {
  @Option(
      names = "--limit",
      defaultValue = "50",
      description = "The most items to list. Default: ${DEFAULT-VALUE}")
  int limit;

  @Option(names = "--cursor", description = "The cursor that the previous page printed")
  @Nullable String cursor;

  String limitText() {
    return Integer.toString(limit);
  }
}
