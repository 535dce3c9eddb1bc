package dev.sessionkeeper.server.usage;

import dev.sessionkeeper.registry.usage.LedgerRow;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** A row of the ledger as the API shows it. */
record UsageItem(
    String recordId,
    UUID sessionId,
    UUID userObjectId,
    UUID tenantObjectId,
    UUID capacityId,
    int sessionKind,
    Instant from,
    Instant to,
    BigDecimal usage,
    String type,
    Optional<String> corrects) {

  /** A page, by tenant and time. */
  record Listing(List<UsageItem> usages, Optional<String> nextCursor) {}

  /** The records that a correction appended. */
  record Corrected(List<UsageItem> usages) {}

  static UsageItem of(LedgerRow row) {
    return new UsageItem(
        row.recordId(),
        row.sessionId(),
        row.userObjectId(),
        row.tenantObjectId(),
        row.capacityId(),
        row.kind(),
        row.from(),
        row.to(),
        row.units(),
        row.type().text(),
        row.corrects().map(seq -> row.sessionId() + ":" + seq));
  }
}
