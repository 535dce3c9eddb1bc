package dev.sessionkeeper.registry.usage;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** A frozen batch as the outbox shows it. */
public record UsageBatch(
    UUID batchId,
    UUID tenantObjectId,
    long sequence,
    int records,
    BigDecimal usage,
    State state,
    int attempts,
    Optional<String> lastError,
    Instant createdAt,
    Optional<Instant> settledAt,
    String sha256) {
  /** The state of a batch. */
  public enum State {
    PENDING,
    ACKNOWLEDGED,
    DEAD;

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    static State of(String text) {
      return valueOf(text.toUpperCase(Locale.ROOT));
    }
  }
}
