package dev.sessionkeeper.registry;

import java.math.BigDecimal;

/**
 * The price class of a session. A higher number is a higher kind.
 *
 * @param factor the units that one period of such a session costs, with at most three decimal
 *     places
 */
public record SessionKind(int number, String name, BigDecimal factor) {
  private static final BigDecimal MOST = new BigDecimal(1_000_000);

  public SessionKind {
    if (number < 1 || number > 1000) {
      throw new IllegalArgumentException("A kind's number must be 1 to 1000, was " + number);
    }
    if (factor.signum() < 0
        || factor.compareTo(MOST) > 0
        || factor.stripTrailingZeros().scale() > 3) {
      throw new IllegalArgumentException(
          "The factor of kind "
              + number
              + " must be 0 to 1000000 with at most three decimals, was "
              + factor.toPlainString());
    }
  }

  public int factorMilli() {
    return factor.movePointRight(3).intValueExact();
  }
}
