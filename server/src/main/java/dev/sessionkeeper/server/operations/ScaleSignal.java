package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.spi.QueueStats;

/**
 * How much work waits for how many consumers. A slot is room for one session in a consumer.
 *
 * @param readySessions sessions that wait for a slot
 * @param heldSessions sessions that fill a slot now
 */
public record ScaleSignal(long readySessions, long heldSessions) {

  public static ScaleSignal of(QueueStats stats) {
    return new ScaleSignal(stats.readySessions(), stats.heldSessions());
  }

  /** Sessions that need a slot now, filled or not. */
  public long sessions() {
    return readySessions + heldSessions;
  }

  /**
   * Ready sessions by slots in use, at least one. While consumers have free slots, no session stays
   * ready; so a number that stays above 0 says that all slots are in use.
   */
  public double readyPerSlot() {
    return (double) readySessions / Math.max(1, heldSessions);
  }

  /** Consumers that give every session a slot. */
  public long consumers(int slotsOfEach) {
    return Math.ceilDiv(sessions(), slotsOfEach);
  }
}
