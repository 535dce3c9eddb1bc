package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;

/**
 * How long things may take.
 *
 * @param patience how long one request to the broker may take, with the SDK's own retries
 */
record Timing(TimeSource time, Duration patience) {}
