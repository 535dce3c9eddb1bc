package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.OpenBatches;
import java.util.OptionalLong;

/** The reader of a queue in this process, as settlements see it. */
public interface Reader {
  /** Returns the epoch under which this process reads now; empty if it is no reader. */
  OptionalLong epoch();

  /** Returns the batches with messages in memory. */
  OpenBatches batches();

  /** Returns when the session is not being persisted any more. */
  void awaitPersisting(SessionId session);
}
