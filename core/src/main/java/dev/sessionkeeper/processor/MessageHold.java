package dev.sessionkeeper.processor;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.MessageSource.Receipted;
import java.time.Duration;
import java.time.Instant;

/** The lock on one message of an unordered queue, which counts as a session of its own. */
final class MessageHold extends Hold {
  private final MessageSource source;
  private final Receipted receipted;
  private volatile Instant lockedUntil;

  MessageHold(
      MessageSource source, Receipted receipted, long askedAt, long lockNanos, Jitter jitter) {
    super(askedAt, lockNanos, jitter);
    this.source = source;
    this.receipted = receipted;
    this.lockedUntil = receipted.lockedUntil();
  }

  @Override
  SessionId id() {
    return SessionId.fromKey(receipted.delivery().id().value());
  }

  @Override
  long epoch() {
    return Math.max(1, receipted.delivery().attempt());
  }

  @Override
  Instant lockedUntil() {
    return lockedUntil;
  }

  @Override
  void renewLease() {
    lockedUntil = source.renew(receipted.receipt());
  }

  @Override
  void giveBack() {
    source.settle(
        receipted.receipt(),
        Settlement.keepRetrying(Duration.ZERO, "the processor closed before it was handled"));
  }
}
