package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.ForwardingProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.SessionSource;

/** Limits the sessions that processors of pushed bots can hold. */
final class LimitedQueues extends ForwardingProvider {
  private final LimitHolds limits;

  LimitedQueues(QueueProvider inner, LimitHolds limits) {
    super(inner);
    this.limits = limits;
  }

  @Override
  public SessionSource sessions(QueueName queue) {
    return new LimitedSessions(queue, super.sessions(queue), limits);
  }

  /** The engine closes its provider. */
  @Override
  public void close() {}
}
