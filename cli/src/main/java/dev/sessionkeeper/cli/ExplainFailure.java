package dev.sessionkeeper.cli;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.client.ProblemException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * A failed command in words for a person, or as JSON for a program that asked for {@code -o json};
 * never a stack trace.
 *
 * @param problem the server's answer; empty if there was none
 */
record ExplainFailure(int exitCode, String sentence, Optional<JsonNode> problem) {

  static ExplainFailure of(Exception failure) {
    var why = String.valueOf(failure.getMessage()).replaceFirst("^\\[SK-\\d+] ", "");
    return switch (failure) {
      case ProblemException problem -> refused(problem, why);
      case KeeperException.Unavailable unavailable ->
          new ExplainFailure(Exit.UNAVAILABLE, ExplainConnection.of(unavailable));
      case KeeperException.OutcomeUnknown unknown ->
          new ExplainFailure(Exit.UNAVAILABLE, ExplainConnection.of(unknown));
      case KeeperException.Misconfigured misconfigured -> new ExplainFailure(Exit.CONFIG, why);
      case IllegalArgumentException wrong -> new ExplainFailure(Exit.USAGE, why);
      case NoSuchFileException missing ->
          new ExplainFailure(Exit.FAILED, "There is no file " + why);
      case IOException unreadable -> new ExplainFailure(Exit.FAILED, why);
      default -> new ExplainFailure(Exit.FAILED, failure.getClass().getSimpleName() + ": " + why);
    };
  }

  private ExplainFailure(int exitCode, String sentence) {
    this(exitCode, sentence, Optional.empty());
  }

  private static ExplainFailure refused(ProblemException problem, String why) {
    var document = Optional.of(problem.document()).filter(JsonNode::isObject);
    return switch (problem.status()) {
      case 401 ->
          new ExplainFailure(
              Exit.FORBIDDEN, why + ". Set KEEPER_API_KEY, --key-file or --key.", document);
      case 403 -> new ExplainFailure(Exit.FORBIDDEN, why, document);
      default -> new ExplainFailure(Exit.FAILED, why, document);
    };
  }

  /**
   * Returns the failure of a call with a second line that says who chose the server. Leaves other
   * failures as they are.
   */
  ExplainFailure of(Optional<String> chosenBy) {
    boolean isOfServer = exitCode == Exit.UNAVAILABLE || problem.isPresent();
    return isOfServer && chosenBy.isPresent()
        ? new ExplainFailure(exitCode, sentence + "\n" + chosenBy.get(), problem)
        : this;
  }

  /** Returns the failure of a wrong command line. */
  static ExplainFailure ofUsage(String sentence) {
    return new ExplainFailure(Exit.USAGE, sentence);
  }

  /** Returns whether a program reads the output. */
  static boolean isForProgram(String... arguments) {
    var given = Arrays.asList(arguments);
    for (var option : new String[] {"-o", "--output"}) {
      int at = given.indexOf(option);
      if (at >= 0 && at + 1 < given.size() && given.get(at + 1).equalsIgnoreCase("json")) {
        return true;
      }
    }
    return given.stream().anyMatch(each -> each.matches("(?i)(-o=?|--output=)json"));
  }

  /** Prints the failure on standard error, and returns the exit code. */
  int tell(Terminal terminal, boolean isForProgram) {
    if (isForProgram) {
      terminal.note(json());
    } else {
      terminal.error(sentence);
    }
    return exitCode;
  }

  private String json() {
    var node = JsonNodeFactory.instance.objectNode();
    var error = node.putObject("error");
    error.put("message", sentence);
    error.put("exitCode", exitCode);
    problem.ifPresent(document -> error.set("problem", document));
    return node.toPrettyString();
  }
}
