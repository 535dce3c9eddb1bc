package dev.sessionkeeper.registry.receiver;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * One record of a batch, as a receiver reads it.
 *
 * @param type usage, reversal or correction; usage if absent
 * @param corrects the record that a reversal cancels, or that a correction replaces
 */
public record ReceivedRecord(
    String recordId,
    UUID sessionId,
    UUID tenantObjectId,
    BigDecimal usage,
    Instant from,
    Instant to,
    int sessionKind,
    String type,
    Optional<String> corrects) {}
