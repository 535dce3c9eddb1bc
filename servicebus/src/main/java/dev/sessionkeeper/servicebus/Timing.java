package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;

/**
 * Time limits.
 *
 * @param patience how long one request to the broker may take, including the SDK's own retries
 */
record Timing(TimeSource time, Duration patience) {}
