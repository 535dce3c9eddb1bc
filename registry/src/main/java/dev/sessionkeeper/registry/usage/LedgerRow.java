package dev.sessionkeeper.registry.usage;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/**
 * The usage of one session in one interval. Never edited.
 *
 * @param seq the number of the row in its session, from 1
 * @param wmicros weighted microseconds, exact
 * @param units as shown and sent
 * @param corrects the row that this one cancels or replaces
 */
public record LedgerRow(
    UUID sessionId,
    int seq,
    Type type,
    UUID userObjectId,
    UUID tenantObjectId,
    UUID capacityId,
    int kind,
    Instant from,
    Instant to,
    BigInteger wmicros,
    BigDecimal units,
    Optional<Integer> corrects) {
  /** The origin of a row. */
  public enum Type {
    USAGE('U'),
    /** Cancels a row: the same amounts with the opposite sign. */
    REVERSAL('R'),
    /** Replaces a cancelled row. */
    CORRECTION('C');

    private final char letter;

    Type(char letter) {
      this.letter = letter;
    }

    /** Returns the word for the API and the receiver. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    String letter() {
      return String.valueOf(letter);
    }

    static Type of(String letter) {
      return switch (letter) {
        case "U" -> USAGE;
        case "R" -> REVERSAL;
        case "C" -> CORRECTION;
        default -> throw new IllegalArgumentException("No type of ledger rows: " + letter);
      };
    }
  }

  /** Returns the record's id, which never changes: receivers apply each id once. */
  public String recordId() {
    return sessionId + ":" + seq;
  }
}
