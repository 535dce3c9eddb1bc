package dev.sessionkeeper.postgres;

import java.util.concurrent.ThreadLocalRandom;

/**
 * This process, as others see it.
 *
 * @param id told apart by in lanes and notifications
 * @param shard the row of the tally that only this process's consumers write
 * @param sendShard the row that only its producers write: nobody waits for the other's commit
 */
record Node(String id, long shard, long sendShard) {
  static Node unique() {
    long random = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE / 2);
    return new Node(Long.toString(random, Character.MAX_RADIX), 2 * random, 2 * random + 1);
  }
}
