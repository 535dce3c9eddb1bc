package dev.sessionkeeper.benchmarks;

/** One contender of a side-by-side run. */
interface Arm {
  String name();

  /** Prepares the load, runs it, and tells what the run took. */
  Took run(Load load) throws Exception;

  /**
   * What is to be handled.
   *
   * @param together whether messages are sent while they are handled, or all before
   */
  record Load(int sessions, int messages, boolean together) {}
}
