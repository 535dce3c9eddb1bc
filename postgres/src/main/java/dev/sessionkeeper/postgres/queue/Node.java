package dev.sessionkeeper.postgres.queue;

import java.util.concurrent.ThreadLocalRandom;

/** This process, as others see it. */
public final class Node {
  private final String id;
  private final CountShard consumed = new CountShard();
  private final CountShard sent = new CountShard();

  private Node(String id) {
    this.id = id;
  }

  public static Node unique() {
    long random = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    return new Node(Long.toString(random, Character.MAX_RADIX));
  }

  /** Told apart by in lanes and notifications. */
  public String id() {
    return id;
  }

  /** The row of the tally to which this process's consumers add now. */
  public long shard() {
    return consumed.next();
  }

  /** The row to which its producers add: neither waits for the other's commit. */
  public CountShard sent() {
    return sent;
  }
}
