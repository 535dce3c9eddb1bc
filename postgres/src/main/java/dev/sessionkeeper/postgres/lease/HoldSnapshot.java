package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.SessionId;
import java.time.Duration;

/**
 * A hold at one moment, as a row must describe it.
 *
 * @param left what is left of the lease
 * @param lastHandedOut the last message that was handed out; zero before the first one
 */
public record HoldSnapshot(
    SessionId session, long epoch, String owner, Duration left, long lastHandedOut) {}
