package dev.sessionkeeper.server.usage;

import dev.sessionkeeper.registry.usage.UsageBatch;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** A frozen batch as the API shows it. */
record BatchItem(
    UUID batchId,
    UUID tenantObjectId,
    long sequence,
    int records,
    BigDecimal usage,
    String state,
    int attempts,
    Optional<String> lastError,
    Instant createdAt,
    Optional<Instant> settledAt,
    String sha256) {

  /** A page of batches, newest first. */
  record Listing(List<BatchItem> batches, Optional<String> nextCursor) {}

  static BatchItem of(UsageBatch batch) {
    return new BatchItem(
        batch.batchId(),
        batch.tenantObjectId(),
        batch.sequence(),
        batch.records(),
        batch.usage(),
        batch.state().text(),
        batch.attempts(),
        batch.lastError(),
        batch.createdAt(),
        batch.settledAt(),
        batch.sha256());
  }
}
