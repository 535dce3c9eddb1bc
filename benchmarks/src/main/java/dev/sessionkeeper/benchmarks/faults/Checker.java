package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.testkit.Violation;
import java.util.List;

/** Judges a history by one promise. */
interface Checker {
  /** Short, for the table of verdicts. */
  String promise();

  List<Violation> check(History history);

  /** All of them. */
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
        new CheckCounts());
  }
}
