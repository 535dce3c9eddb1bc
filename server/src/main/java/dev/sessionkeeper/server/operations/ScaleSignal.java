package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.spi.QueueStats;

/**
 * The ready and held sessions of a queue, from which the number of consumers follows. A slot is
 * room for one session in a consumer.
 *
 * @param readySessions sessions that wait for a slot
 * @param heldSessions sessions that occupy a slot
 */
public record ScaleSignal(long readySessions, long heldSessions) {

  public static ScaleSignal of(QueueStats stats) {
    return new ScaleSignal(stats.readySessions(), stats.heldSessions());
  }

  /** Returns how many sessions need a slot now, held or not. */
  public long sessions() {
    return readySessions + heldSessions;
  }

  /**
   * Returns the ready sessions divided by the occupied slots (at least one). While consumers have
   * free slots, no session stays ready; so a number that stays above 0 means that all slots are
   * occupied.
   */
  public double readyPerSlot() {
    return (double) readySessions / Math.max(1, heldSessions);
  }

  /** Returns how many consumers give every session a slot. */
  public long consumers(int slotsOfEach) {
    return Math.ceilDiv(sessions(), slotsOfEach);
  }
}
