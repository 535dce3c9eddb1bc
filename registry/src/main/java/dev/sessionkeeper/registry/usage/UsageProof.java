package dev.sessionkeeper.registry.usage;

import java.math.BigDecimal;
import java.util.UUID;

/**
 * The sums of one tenant, from independent places, in microseconds times factor.
 *
 * @param active the time of the sessions themselves: from their start to their end, or to now
 * @param unmetered what of that time is not metered and need not be yet: metering bills it with one
 *     of its next slots
 * @param corrections what corrections have changed
 * @param ledger the rows of the ledger
 * @param batches what was frozen to be sent
 * @param acknowledged what the receiver has
 * @param pending what it will have
 * @param dead what it refused
 * @param forgotten what it acknowledged so long ago that only the sum is left; it is in none of
 *     ledger, batches and acknowledged
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
  /** Time that should be in the ledger and is not, or the other way round. */
  public BigDecimal ledgerDifference() {
    return plain(active.subtract(unmetered).add(corrections).subtract(ledger).subtract(forgotten));
  }

  /** Ledger rows that are not in a batch, or the other way round. */
  public BigDecimal batchDifference() {
    return plain(ledger.subtract(batches));
  }

  /** Batches that are neither acknowledged nor on their way. */
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
