package dev.sessionkeeper.benchmarks.torture;

import java.util.List;
import java.util.Optional;

/**
 * One fault of the matrix.
 *
 * @param name what {@code --row} takes
 * @param fault what happens
 * @param expected what must be seen
 * @param isQuick whether it belongs to the short form
 * @param proof how the result is shown
 */
record Row(String name, String fault, String expected, boolean isQuick, Proof proof) {

  /** The way in which a row is shown. */
  sealed interface Proof {}

  /** A fault run with these options; its checkers judge the journals. */
  record Run(List<String> options, Needs needs) implements Proof {}

  /** Test classes of a module. */
  record Tests(String module, String classes) implements Proof {}

  /** A scenario of its own. */
  record Scene(Work work) implements Proof {}

  /** A scenario; returns its result. */
  interface Work {
    Seen run(java.nio.file.Path folder) throws Exception;
  }

  /** The needs of a fault beyond an ordinary machine. */
  enum Needs {
    NOTHING,
    /** The library libfaketime. */
    FAKE_CLOCK,
    /** A small file system, which only root can mount. */
    SMALL_DISK
  }

  /** The result of a row. */
  enum Verdict {
    KEPT,
    BROKEN,
    SKIPPED
  }

  /** The verdict, with a few words about the observation. */
  record Seen(Verdict verdict, String what) {
    static Seen kept(String what) {
      return new Seen(Verdict.KEPT, what);
    }

    static Seen broken(String what) {
      return new Seen(Verdict.BROKEN, what);
    }

    static Seen skipped(String why) {
      return new Seen(Verdict.SKIPPED, why);
    }
  }

  static Row run(String name, String fault, String expected, String options) {
    return run(name, fault, expected, options, Needs.NOTHING);
  }

  static Row run(String name, String fault, String expected, String options, Needs needs) {
    return new Row(name, fault, expected, false, new Run(List.of(options.split(" ")), needs));
  }

  static Row tests(String name, String fault, String expected, String module, String classes) {
    return new Row(name, fault, expected, false, new Tests(module, classes));
  }

  static Row scene(String name, String fault, String expected, Work work) {
    return new Row(name, fault, expected, false, new Scene(work));
  }

  Row quick() {
    return new Row(name, fault, expected, true, proof);
  }

  static Optional<Row> named(String name, List<Row> all) {
    return all.stream().filter(row -> row.name().equals(name)).findFirst();
  }
}
