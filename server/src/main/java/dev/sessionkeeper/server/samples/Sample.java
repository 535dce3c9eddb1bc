package dev.sessionkeeper.server.samples;

import java.time.Instant;
import java.util.Map;

/** The numbers of all queues at one moment, by queue name. */
record Sample(Instant at, Map<String, Numbers> queues) {

  /**
   * The numbers of one queue.
   *
   * @param arrived messages ever sent; grows only
   * @param gone messages ever completed or dead-lettered; grows only
   * @param held sessions that an owner holds
   * @param oldestMillis how long the oldest message has waited
   * @param isCounted whether arrived and gone are known
   */
  record Numbers(
      long arrived,
      long gone,
      long depth,
      long dead,
      long parked,
      long paused,
      long held,
      long oldestMillis,
      boolean isCounted,
      String mode,
      String poisonPolicy) {
    Numbers withoutAge() {
      return new Numbers(
          arrived, gone, depth, dead, parked, paused, held, 0, isCounted, mode, poisonPolicy);
    }
  }
}
