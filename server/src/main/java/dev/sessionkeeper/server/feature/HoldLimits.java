package dev.sessionkeeper.server.feature;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Limits of held sessions beyond those of their queue, asked at each step of a lease. */
public interface HoldLimits {

  /** A session in the hands of an owner. */
  record Hold(QueueName queue, SessionId session, long epoch) {}

  /**
   * A limit that a hold has reached.
   *
   * @param limit the key of the configuration
   * @param detail what happened and what to do
   * @param isIdle whether no message is in hand, so that the session can be released at once
   */
  record Reached(String limit, String detail, boolean isIdle) {}

  /** The name of the bot that the queue belongs to; empty when it belongs to none. */
  Optional<String> botOf(QueueName queue);

  /** Since when sessions of the queue are held; those whose owners are not counted are missing. */
  Map<SessionId, Instant> heldSince(QueueName queue);

  /** Waits until one more session of the queue may be held; false when that takes too long. */
  boolean awaitRoom(QueueName queue, Duration patience) throws InterruptedException;

  /** Begins a hold; false when no more session of the queue may be held. */
  boolean begin(Hold hold);

  /** Returns the limit that ends this hold; empty while it may go on. */
  Optional<Reached> reached(Hold hold);

  /** The lease was renewed. */
  void renewed(Hold hold);

  /** Messages were handed out. */
  void received(Hold hold, List<Delivery> deliveries);

  /** Deliveries were settled. */
  void settled(Hold hold, List<Settled> settlements);

  /** The session was released: by its owner, or because it had reached a limit. */
  void ended(Hold hold, Optional<Reached> reached);

  /** No limits. */
  HoldLimits NONE =
      new HoldLimits() {
        @Override
        public Optional<String> botOf(QueueName queue) {
          return Optional.empty();
        }

        @Override
        public Map<SessionId, Instant> heldSince(QueueName queue) {
          return Map.of();
        }

        @Override
        public boolean awaitRoom(QueueName queue, Duration patience) {
          return true;
        }

        @Override
        public boolean begin(Hold hold) {
          return true;
        }

        @Override
        public Optional<Reached> reached(Hold hold) {
          return Optional.empty();
        }

        @Override
        public void renewed(Hold hold) {}

        @Override
        public void received(Hold hold, List<Delivery> deliveries) {}

        @Override
        public void settled(Hold hold, List<Settled> settlements) {}

        @Override
        public void ended(Hold hold, Optional<Reached> reached) {}
      };
}
