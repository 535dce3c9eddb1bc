package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import java.util.OptionalLong;

/** The part of this process that reads a queue, as settlements need to know it. */
interface Reader {
  /** Returns the epoch in which this process reads now; empty when it does not read. */
  OptionalLong epoch();

  /** Returns the batches of which messages are in memory. */
  OpenBundles batches();

  /** Returns when the session is not being persisted any more. */
  void awaitPersisting(SessionId session);
}
