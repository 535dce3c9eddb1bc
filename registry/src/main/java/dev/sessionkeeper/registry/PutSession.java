package dev.sessionkeeper.registry;

/** Finds, begins or replaces the active session of a key, in one transaction. */
sealed interface PutSession permits PostgresPutSession, SqlServerPutSession {
  PutOutcome put(SessionRequest request);
}
