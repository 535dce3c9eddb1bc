package dev.sessionkeeper.postgres.send;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BatchSizesTest {
  private final BatchSizes sizes = new BatchSizes();

  private void add(int count, int bytes) {
    for (int i = 0; i < count; i++) {
      sizes.add(bytes, false, -1);
    }
  }

  @Test
  void sixtyFourFitIntoOne() {
    add(64, 10);
    assertThat(sizes.sizes()).containsExactly(64);
    add(66, 10);
    assertThat(sizes.sizes()).containsExactly(64, 64, 2);
    assertThat(sizes.weights()).containsExactly(640, 640, 20);
  }

  @Test
  void noneIsLargerThanAQuarterOfAMegabyteUnlessOneMessageIs() {
    add(3, 100_000);
    add(1, 1_000_000);
    add(1, 1);
    assertThat(sizes.sizes()).containsExactly(2, 1, 1, 1);
  }

  @Test
  void aSharedBodyIsAlone() {
    add(2, 10);
    sizes.add(16, true, -1);
    sizes.add(16, true, -1);
    add(2, 10);
    assertThat(sizes.sizes()).containsExactly(2, 1, 1, 2);
  }

  @Test
  void numbersFollowTheFirstOfTheirBundle() {
    add(65, 1);
    assertThat(sizes.numbers(new Long[] {640L, 1280L}).toArray())
        .hasSize(65)
        .startsWith(640, 641)
        .endsWith(703, 1280);
  }
}
