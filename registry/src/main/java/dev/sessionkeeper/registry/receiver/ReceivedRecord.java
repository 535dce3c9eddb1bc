package dev.sessionkeeper.registry.receiver;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.UUID;

/** One record of a batch, as a receiver reads it. */
public record ReceivedRecord(
    String recordId,
    UUID sessionId,
    UUID tenantObjectId,
    BigDecimal usage,
    Instant from,
    Instant to,
    int sessionKind) {}
