package dev.sessionkeeper.postgres.queue;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.time.TimeSource;
import org.slf4j.Logger;

/**
 * Objects that every worker of one queue needs: the queue, its database, this process and the
 * clock.
 */
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

  /** Notifies other processes to poll. */
  public void tellOthers() {
    provider.notifications().sent(id());
  }

  /** Notifies the readers of this queue that they have session requests. */
  public void tellReaders() {
    provider.notifications().asked(id());
  }
}
