package dev.sessionkeeper.registry.usage;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnitsTest {
  private static final long MONTH = Duration.ofDays(30).toNanos() / 1000;
  private static final long MINUTE = 60_000_000L;

  /** Six decimal places each minute once billed 0.9936, 1.9872 and 2.9808 for a month. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aMonthOfMinutesIsExactlyTheFactor(int factor) {
    var sum = BigDecimal.ZERO;
    var seed = BigDecimal.ZERO;
    var total = BigInteger.ZERO;
    for (int minute = 0; minute < 43_200; minute++) {
      var next = total.add(BigInteger.valueOf(MINUTE * 1000 * factor));
      sum = sum.add(Units.between(total, next, MONTH));
      total = next;
      seed =
          seed.add(
              new BigDecimal(MINUTE * factor)
                  .divide(new BigDecimal(MONTH), 6, RoundingMode.HALF_UP));
    }
    assertThat(sum).isEqualByComparingTo(BigDecimal.valueOf(factor));
    assertThat(seed).isNotEqualByComparingTo(BigDecimal.valueOf(factor));
  }

  @Test
  void everyFirstRowsAddUpToTheirRoundedExactTotal() {
    var random = new Random(11);
    for (int trial = 0; trial < 200; trial++) {
      long period = 1 + random.nextLong(MONTH);
      var total = BigInteger.ZERO;
      var sum = BigDecimal.ZERO;
      for (int row = 0; row < 50; row++) {
        var next = total.add(new BigInteger(1 + random.nextInt(60), random));
        sum = sum.add(Units.between(total, next, period));
        total = next;
        // An independent oracle: whole numbers and a remainder, no BigDecimal.
        assertThat(sum.unscaledValue()).isEqualTo(halfEven(total, period));
      }
    }
  }

  private static BigInteger halfEven(BigInteger wmicros, long period) {
    var divisor = BigInteger.valueOf(period).multiply(BigInteger.valueOf(1000));
    var parts = wmicros.multiply(BigInteger.TEN.pow(9)).divideAndRemainder(divisor);
    int half = parts[1].shiftLeft(1).compareTo(divisor);
    boolean up = half > 0 || (half == 0 && parts[0].testBit(0));
    return up ? parts[0].add(BigInteger.ONE) : parts[0];
  }
}
