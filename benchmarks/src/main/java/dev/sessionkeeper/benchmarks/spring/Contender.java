package dev.sessionkeeper.benchmarks.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.QueueProvider;

/** A way to handle the messages of one queue; it handles nothing while it is paused. */
interface Contender extends AutoCloseable {
  int SESSIONS_AT_ONCE = 16;

  String name();

  QueueProvider provider();

  QueueName queue();

  /** Returns how many messages were handled since its creation. */
  long handled();

  void resume();

  void pause();

  int activeSessions();

  @Override
  void close();
}
