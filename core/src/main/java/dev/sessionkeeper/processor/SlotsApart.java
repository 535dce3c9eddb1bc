package dev.sessionkeeper.processor;

/**
 * Room between two slots, so that each lies in cache lines of its own. Slots are made one after the
 * other and would share them, and a processor that writes to one would take the other away from its
 * neighbour, for every session.
 */
@SuppressWarnings("unused") // Not being used is what they are for.
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
