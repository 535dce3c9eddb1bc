package dev.sessionkeeper.postgres.queue;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.time.TimeSource;
import org.slf4j.Logger;

/** What every worker of one queue needs: the queue, its database, this process and the clock. */
public record QueueContext(KnownQueue queue, ProviderContext provider) {
  public int id() {
    return queue.id();
  }

  public QueueName name() {
    return queue.name();
  }

  public Connections connections() {
    return provider.connections();
  }

  public Node node() {
    return provider.node();
  }

  public TimeSource time() {
    return provider.time();
  }

  public Logger log() {
    return provider.log();
  }

  /** Receives notifications of other processes from now on. */
  public void listen() {
    provider.notifications().listen();
  }

  /** Tells other processes to poll. */
  public void tellOthers() {
    provider.notifications().sent(id());
  }

  /** Tells the processes that read this queue that they are asked for sessions. */
  public void tellReaders() {
    provider.notifications().asked(id());
  }
}
