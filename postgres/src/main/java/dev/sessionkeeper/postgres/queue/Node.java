package dev.sessionkeeper.postgres.queue;

import java.util.concurrent.ThreadLocalRandom;

/** This process, as other processes know it. */
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

  /** Returns the name of this process in rows and notifications. */
  public String id() {
    return id;
  }

  /** Returns the counter row to which this process's consumers add now. */
  public long shard() {
    return consumed.next();
  }

  /**
   * Returns the counter rows of its producers: consumers and producers do not wait for each other's
   * commits.
   */
  public CountShard sent() {
    return sent;
  }
}
