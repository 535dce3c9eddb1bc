package dev.sessionkeeper.registry.usage;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/**
 * Turns weighted microseconds into the units that are shown.
 *
 * <p>The unit of account is an integer and never rounded: microseconds times thousandths of the
 * factor. What is shown is rounded half-even at scale 9, but never row by row: a row shows the
 * difference of two rounded totals. So the sum of any first rows is the rounded exact total, and a
 * month of minutes is exactly 1.
 */
public final class Units {
  public static final int SCALE = 9;
  private static final BigInteger THOUSAND = BigInteger.valueOf(1000);

  private Units() {}

  /** The rounded units of a total of weighted microseconds. */
  public static BigDecimal of(BigInteger wmicros, long periodMicros) {
    var divisor = new BigDecimal(THOUSAND.multiply(BigInteger.valueOf(periodMicros)));
    return new BigDecimal(wmicros).divide(divisor, SCALE, RoundingMode.HALF_EVEN);
  }

  /** The units of what came between two totals. */
  public static BigDecimal between(BigInteger before, BigInteger after, long periodMicros) {
    return of(after, periodMicros).subtract(of(before, periodMicros));
  }
}
