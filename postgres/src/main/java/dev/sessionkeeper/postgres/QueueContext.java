package dev.sessionkeeper.postgres;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.time.TimeSource;
import org.slf4j.Logger;

/** What every worker of one queue needs: the queue, its database, this process and the clock. */
record QueueContext(KnownQueue queue, ProviderContext provider) {
  int id() {
    return queue.id();
  }

  QueueName name() {
    return queue.name();
  }

  Connections connections() {
    return provider.connections();
  }

  Node node() {
    return provider.node();
  }

  TimeSource time() {
    return provider.time();
  }

  Logger log() {
    return provider.log();
  }

  /** Receives notifications of other processes from now on. */
  void listen() {
    provider.notifications().listen();
  }

  /** Tells other processes to poll. */
  void tellOthers() {
    provider.notifications().sent(id());
  }

  /** Tells the processes that read this queue that they are asked for sessions. */
  void tellReaders() {
    provider.notifications().asked(id());
  }
}
