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
 * @param seq counts the rows of the session from 1
 * @param wmicros weighted microseconds, exact
 * @param units as shown and sent
 * @param corrects the row that this one takes back or puts in place of it
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
  /** Why a row is there. */
  public enum Type {
    USAGE('U'),
    /** Takes a row back: the same amounts with the other sign. */
    REVERSAL('R'),
    /** Stands in place of a row that was taken back. */
    CORRECTION('C');

    private final char letter;

    Type(char letter) {
      this.letter = letter;
    }

    /** As the API and the receiver see it. */
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

  /** The same for ever: receivers apply a record once by it. */
  public String recordId() {
    return sessionId + ":" + seq;
  }
}
