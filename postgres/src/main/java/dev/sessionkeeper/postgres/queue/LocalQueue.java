package dev.sessionkeeper.postgres.queue;

import dev.sessionkeeper.SessionId;

/** A queue in this process. */
public interface LocalQueue extends AutoCloseable {

  /** Makes waiting consumers poll, because messages may have come. */
  void wake();

  /**
   * Makes waiting consumers poll, here and in other processes, because this process has stored
   * messages.
   *
   * @param areSendersHeldUp whether senders send as fast as they are answered
   */
  void sent(boolean areSendersHeldUp);

  /** Tells the holder of a session that messages have come. */
  void tellNews(SessionId session);

  /** Applies due expirations, delays and ends of leases. */
  void applyDue();

  /** Makes every message a row, so that a purge finds all of them. */
  void beforePurge();

  /** Makes consumers ask the database which messages are left. */
  void afterPurge();

  @Override
  void close();
}
