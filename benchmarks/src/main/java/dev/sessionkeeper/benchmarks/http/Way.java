package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;

/** A way to a queue. Both ways end at the same provider on the same database. */
interface Way extends AutoCloseable {
  String name();

  void declare(QueueName queue);

  /** Sends so many messages in one call, to sessions that take turns beginning with this one. */
  void send(QueueName queue, int first, int sessions, int count);

  /**
   * Takes a session, receives up to this many messages, completes them together and gives the
   * session back.
   *
   * @return how many it completed; 0 when no session was ready
   */
  int consume(QueueName queue, int most);

  @Override
  void close();
}
