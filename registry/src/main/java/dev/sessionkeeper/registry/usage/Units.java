package dev.sessionkeeper.registry.usage;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/**
 * Converts weighted microseconds into displayed units.
 *
 * <p>The unit of account is an integer and never rounded: microseconds times thousandths of the
 * factor. Displayed units are rounded half-even to 9 decimal places. A row shows the difference of
 * two rounded totals, so the sum of the first rows is always the rounded exact total, and a month
 * of minutes is exactly 1.
 */
public final class Units {
  public static final int SCALE = 9;
  private static final BigInteger THOUSAND = BigInteger.valueOf(1000);

  private Units() {}

  /** Returns the rounded units of a total of weighted microseconds. */
  public static BigDecimal of(BigInteger wmicros, long periodMicros) {
    var divisor = new BigDecimal(THOUSAND.multiply(BigInteger.valueOf(periodMicros)));
    return new BigDecimal(wmicros).divide(divisor, SCALE, RoundingMode.HALF_EVEN);
  }

  /** Returns the units between two totals. */
  public static BigDecimal between(BigInteger before, BigInteger after, long periodMicros) {
    return of(after, periodMicros).subtract(of(before, periodMicros));
  }
}
