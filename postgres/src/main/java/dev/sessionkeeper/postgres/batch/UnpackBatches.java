package dev.sessionkeeper.postgres.batch;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.queue.QueueContext;

/** Unpacks messages of one session from batches that no poll has looked through yet. */
public final class UnpackBatches {
  private static final String UNPACK = "SELECT keeper.untie_session(?, ?)";

  private final QueueContext queue;

  public UnpackBatches(QueueContext queue) {
    this.queue = queue;
  }

  /** Unpacks, and returns whether there were any messages of the session. */
  public boolean of(SessionId session) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(UNPACK)) {
                statement.setInt(1, queue.id());
                statement.setString(2, session.value());
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  return rows.getBoolean(1);
                }
              }
            });
  }
}
