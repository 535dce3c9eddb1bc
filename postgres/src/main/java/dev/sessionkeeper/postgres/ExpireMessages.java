package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;

/** Applies due expirations, delays and ends of leases before a queue is inspected. */
final class ExpireMessages {
  private final ReadAlone reader;
  private final PollRequests polls;

  ExpireMessages(ReadAlone reader, PollRequests polls) {
    this.reader = reader;
    this.polls = polls;
  }

  /** Applies what is due. */
  void apply() {
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
    Waits.join(polls.join());
    if (reader.isReading()) {
      // That poll may have read messages that have expired.
      reader.persistExpired();
      Waits.join(polls.join());
    }
    polls.makeDueNow();
  }
}
