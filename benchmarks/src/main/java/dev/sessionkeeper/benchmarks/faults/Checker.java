package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.testkit.Violation;
import java.util.List;

/** Checks one promise against a history. */
interface Checker {
  /** Returns a short text for the table of verdicts. */
  String promise();

  List<Violation> check(History history);

  /** Returns all checkers. */
  static List<Checker> all() {
    return List.of(
        new CheckSessionOrder(),
        new CheckEpochs(),
        new CheckLeases(),
        new CheckLoss(),
        new CheckRefusals(),
        new CheckDuplicates(),
        new CheckAttempts(),
        new CheckDeadLetters(),
        new CheckEffects(),
        new CheckProgress(),
        new CheckCounts());
  }
}
