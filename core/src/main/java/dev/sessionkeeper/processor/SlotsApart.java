package dev.sessionkeeper.processor;

/**
 * Separates slots in memory, so that each has cache lines of its own. Without this padding, slots
 * share cache lines because they are allocated together, and the frequent writes of one slow its
 * neighbours down.
 */
@SuppressWarnings("unused") // The fields are padding; no code uses them.
class SlotsApart {
  private long a0;
  private long a1;
  private long a2;
  private long a3;
  private long a4;
  private long a5;
  private long a6;
  private long a7;
  private long b0;
  private long b1;
  private long b2;
  private long b3;
  private long b4;
  private long b5;
  private long b6;
  private long b7;
}
