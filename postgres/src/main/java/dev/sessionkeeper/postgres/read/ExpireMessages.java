package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.poll.PollRequests;

/** Applies due expirations, delays and ends of leases before a queue is inspected. */
public final class ExpireMessages {
  private final ReadBuckets reader;
  private final PollRequests polls;

  public ExpireMessages(ReadBuckets reader, PollRequests polls) {
    this.reader = reader;
    this.polls = polls;
  }

  /** Applies due expirations, delays and ends of leases. */
  public void apply() {
    for (int attempt = 1; ; attempt++) {
      try {
        tryToApply();
        return;
      } catch (KeeperException.Unavailable | KeeperException.OutcomeUnknown e) {
        // The connection broke. A repetition changes nothing more.
        if (!Connections.mayRepeatAfter(attempt)) {
          throw e;
        }
        Connections.pause(attempt);
      }
    }
  }

  private void tryToApply() {
    reader.persistExpired();
    Futures.join(polls.join());
    if (reader.isReading()) {
      // That poll may have read messages that have expired.
      reader.persistExpired();
      Futures.join(polls.join());
    }
    polls.makeDueNow();
  }
}
