package dev.sessionkeeper.registry.usage;

import java.math.BigDecimal;
import java.util.UUID;

/**
 * The sums of one tenant, from independent tables, in microseconds times factor.
 *
 * @param active the time of the sessions: from their start to their end, or to now
 * @param unmetered the part of that time that one of the next slots meters
 * @param corrections the sum of all corrections
 * @param ledger the rows of the ledger
 * @param batches all frozen batches
 * @param acknowledged batches that the receiver has
 * @param pending batches that it will get
 * @param dead batches that it refused
 * @param forgotten acknowledged usage that retention has deleted; it is in none of ledger, batches
 *     and acknowledged
 */
public record UsageProof(
    UUID tenantObjectId,
    BigDecimal active,
    BigDecimal unmetered,
    BigDecimal corrections,
    BigDecimal ledger,
    BigDecimal batches,
    BigDecimal acknowledged,
    BigDecimal pending,
    BigDecimal dead,
    BigDecimal forgotten) {
  /** Returns the time that is missing in the ledger, or too much in it. */
  public BigDecimal ledgerDifference() {
    return plain(active.subtract(unmetered).add(corrections).subtract(ledger).subtract(forgotten));
  }

  /** Returns the usage of ledger rows that are missing in batches, or too much in them. */
  public BigDecimal batchDifference() {
    return plain(ledger.subtract(batches));
  }

  /** Returns the usage of batches that are neither acknowledged nor pending nor refused. */
  public BigDecimal acknowledgedDifference() {
    return plain(batches.subtract(acknowledged).subtract(pending).subtract(dead));
  }

  public boolean isExact() {
    return ledgerDifference().signum() == 0
        && batchDifference().signum() == 0
        && acknowledgedDifference().signum() == 0;
  }

  static BigDecimal plain(BigDecimal value) {
    var stripped = value.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }
}
