package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.SessionId;
import java.time.Duration;

/**
 * A hold at one moment, with the values that its row needs.
 *
 * @param left the remaining time of the lease
 * @param lastHandedOut the last message that was handed out; zero before the first one
 */
public record HoldSnapshot(
    SessionId session, long epoch, String owner, Duration left, long lastHandedOut) {}
