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

/**
 * Limits of held sessions beyond the settings of their queue. The server checks them at each step
 * of a lease.
 */
public interface HoldLimits {

  /** A session that an owner holds. */
  record Hold(QueueName queue, SessionId session, long epoch) {}

  /**
   * A limit that a hold has reached.
   *
   * @param limit the key of the configuration
   * @param detail what happened and what to do
   * @param isIdle whether the session has no open delivery and can be released at once
   */
  record Reached(String limit, String detail, boolean isIdle) {}

  /** Returns the name of the bot that the queue belongs to; empty if it belongs to none. */
  Optional<String> botOf(QueueName queue);

  /** Returns since when sessions of the queue are held. Sessions without a limit are missing. */
  Map<SessionId, Instant> heldSince(QueueName queue);

  /**
   * Waits until one more session of the queue may be held. Returns false after the given patience.
   */
  boolean awaitRoom(QueueName queue, Duration patience) throws InterruptedException;

  /** Begins a hold. Returns false if no more session of the queue may be held. */
  boolean begin(Hold hold);

  /** Returns the limit that this hold has reached; empty while it may continue. */
  Optional<Reached> reached(Hold hold);

  /** Records that the owner renewed the lease. */
  void renewed(Hold hold);

  /** Records that messages were delivered to the owner. */
  void received(Hold hold, List<Delivery> deliveries);

  /** Records that deliveries were settled. */
  void settled(Hold hold, List<Settled> settlements);

  /** Records that the session was released, by its owner or because it reached a limit. */
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
