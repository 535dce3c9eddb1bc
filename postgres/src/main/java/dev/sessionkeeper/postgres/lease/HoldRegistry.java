package dev.sessionkeeper.postgres.lease;

import java.util.concurrent.CompletableFuture;

/** The registry of the holds of this process, as a single hold sees it. */
public interface HoldRegistry {
  /** Forgets this hold, but no later hold of the same session. */
  void forget(Hold hold);

  /** Remembers a session that no consumer wanted and that is being given back. */
  void givesBack(CompletableFuture<Void> answer);
}
