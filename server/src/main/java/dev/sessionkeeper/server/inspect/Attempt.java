package dev.sessionkeeper.server.inspect;

import java.time.Instant;
import java.util.Optional;

/**
 * An attempt that failed.
 *
 * @param isCounted false when the message was postponed, which counts no attempt
 */
record Attempt(
    long sequence,
    int attempt,
    boolean isCounted,
    Optional<Long> epoch,
    Optional<String> owner,
    Instant at,
    String error) {}
