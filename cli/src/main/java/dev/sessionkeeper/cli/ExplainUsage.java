package dev.sessionkeeper.cli;

import java.util.stream.Collectors;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says what is wrong with a command line, what may have been meant, and where to look. */
final class ExplainUsage {
  private ExplainUsage() {}

  static ExplainFailure of(ParameterException wrong) {
    var command = wrong.getCommandLine().getCommandSpec().qualifiedName();
    return ExplainFailure.ofUsage(sentence(wrong) + " See: " + command + " --help");
  }

  private static String sentence(ParameterException wrong) {
    if (!(wrong instanceof UnmatchedArgumentException unmatched)
        || unmatched.getUnmatched().isEmpty()) {
      return ended(String.valueOf(wrong.getMessage()));
    }
    var first = unmatched.getUnmatched().get(0);
    return what(unmatched, first) + meant(unmatched);
  }

  private static String what(UnmatchedArgumentException unmatched, String first) {
    if (unmatched.isUnknownOption()) {
      return "There is no option " + first + ".";
    }
    boolean takesCommands = !unmatched.getCommandLine().getSubcommands().isEmpty();
    return takesCommands
        ? "There is no command '" + first + "'."
        : "'" + first + "' is one argument too many.";
  }

  private static String meant(UnmatchedArgumentException unmatched) {
    var command = unmatched.getCommandLine().getCommandSpec().qualifiedName();
    var names =
        unmatched.getSuggestions().stream()
            .limit(2)
            .map(name -> name.startsWith("-") ? name : command + " " + name)
            .collect(Collectors.joining(" or "));
    return names.isEmpty() ? "" : " Did you mean " + names + "?";
  }

  private static String ended(String text) {
    return text.matches("(?s).*[.?!]") ? text : text + ".";
  }
}
