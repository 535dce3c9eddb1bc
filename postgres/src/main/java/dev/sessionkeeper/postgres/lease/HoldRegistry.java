package dev.sessionkeeper.postgres.lease;

import java.util.concurrent.CompletableFuture;

/** The register of the holds of this process, as one hold needs to know it. */
public interface HoldRegistry {
  /** Forgets this hold, and no later one of the same session. */
  void forget(Hold hold);

  /** Remembers a session that no consumer wanted and that is on its way back. */
  void givesBack(CompletableFuture<Void> answer);
}
