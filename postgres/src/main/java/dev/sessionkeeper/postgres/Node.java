package dev.sessionkeeper.postgres;

import java.util.concurrent.ThreadLocalRandom;

/** This process, as others see it. */
final class Node {
  private final String id;
  private final CountShard consumed = new CountShard();
  private final CountShard sent = new CountShard();

  private Node(String id) {
    this.id = id;
  }

  static Node unique() {
    long random = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    return new Node(Long.toString(random, Character.MAX_RADIX));
  }

  /** Told apart by in lanes and notifications. */
  String id() {
    return id;
  }

  /** The row of the tally to which this process's consumers add now. */
  long shard() {
    return consumed.next();
  }

  /** The row to which its producers add: neither waits for the other's commit. */
  CountShard sent() {
    return sent;
  }
}
