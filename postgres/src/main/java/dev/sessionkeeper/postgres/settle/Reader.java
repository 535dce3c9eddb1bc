package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.OpenBatches;
import java.util.OptionalLong;

/** The part of this process that reads a queue, as settlements need to know it. */
public interface Reader {
  /** Returns the epoch in which this process reads now; empty when it does not read. */
  OptionalLong epoch();

  /** Returns the batches of which messages are in memory. */
  OpenBatches batches();

  /** Returns when the session is not being persisted any more. */
  void awaitPersisting(SessionId session);
}
