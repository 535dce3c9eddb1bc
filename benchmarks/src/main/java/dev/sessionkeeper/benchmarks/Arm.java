package dev.sessionkeeper.benchmarks;

/** One contestant of a side-by-side run. */
interface Arm {
  String name();

  /**
   * Prepares the load, collects garbage, runs the load, and returns what the run took. If all
   * messages are sent before, sending is part of the preparation.
   */
  Took run(Load load) throws Exception;

  /**
   * The messages of a run.
   *
   * @param together whether messages are sent while they are handled, or all before
   */
  record Load(int sessions, int messages, boolean together) {}
}
