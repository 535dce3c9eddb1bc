package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SequencesTest {

  @Test
  void numbersOfTwentyDigitsKeepTheirOrder() {
    long first = Sequences.of("18849496460467696128");
    long later = Sequences.of("18849496460467696384");
    assertThat(first).isPositive().isLessThan(later);
    assertThat(Sequences.of("41")).isEqualTo(41);
  }

  @Test
  void anEpochGrowsWithTheHeadAndWithItsReceives() {
    assertThat(Sequences.epoch(41, 2)).isGreaterThan(Sequences.epoch(41, 1));
    assertThat(Sequences.epoch(42, 1)).isGreaterThan(Sequences.epoch(41, 15));
    assertThat(Sequences.epoch(Sequences.of("18849496460467696128"), 1)).isPositive();
  }
}
