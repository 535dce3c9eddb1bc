package dev.sessionkeeper.postgres;

import java.util.concurrent.ThreadLocalRandom;

/**
 * This process, as others see it.
 *
 * @param id told apart by in lanes and notifications
 * @param shard the row of the tally that only this process writes
 */
record Node(String id, long shard) {
  static Node unique() {
    long random = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    return new Node(Long.toString(random, Character.MAX_RADIX), random);
  }
}
