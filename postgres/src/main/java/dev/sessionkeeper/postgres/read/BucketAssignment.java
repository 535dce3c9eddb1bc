package dev.sessionkeeper.postgres.read;

import java.time.Duration;

/**
 * The buckets that a process may read from now on.
 *
 * @param epoch fences the writes of the reader
 * @param knownTo the snapshot up to which others have read
 * @param lease how long the reader may read without a heartbeat
 */
public record BucketAssignment(long epoch, long buckets, String knownTo, Duration lease) {}
