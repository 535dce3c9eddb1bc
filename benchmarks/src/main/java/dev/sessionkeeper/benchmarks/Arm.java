package dev.sessionkeeper.benchmarks;

/** One contender of a side-by-side run. */
interface Arm {
  String name();

  /**
   * Prepares the load, collects the garbage of that, runs it, and tells what the run took. Where
   * all is sent before, sending is part of the preparation.
   */
  Took run(Load load) throws Exception;

  /**
   * What is to be handled.
   *
   * @param together whether messages are sent while they are handled, or all before
   */
  record Load(int sessions, int messages, boolean together) {}
}
