package dev.sessionkeeper.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
  private static final long CAPACITY = 1 << 20;
  private final MemoryBudget budget = new MemoryBudget(CAPACITY);

  @Test
  void aShareGivesItsBytesBackExactlyOnce() {
    var first = budget.open();
    var second = budget.open();
    assertThat(first.grow(1000)).isTrue();
    assertThat(second.grow(500)).isTrue();

    first.close();
    first.close();

    assertThat(budget.taken()).isEqualTo(500);
    assertThat(first.grow(1)).as("a closed share").isFalse();
    assertThat(budget.taken()).isEqualTo(500);
  }

  @Test
  void theLastQuarterIsForSmallShares() {
    assertThat(budget.open().grow(CAPACITY * 3 / 4)).isTrue();

    assertThat(budget.open().grow(MemoryBudget.SMALL + 1)).isFalse();
    for (int i = 0; i < 4; i++) {
      assertThat(budget.open().grow(MemoryBudget.SMALL)).isTrue();
    }
    assertThat(budget.open().grow(1)).isFalse();
    assertThat(budget.taken()).isEqualTo(CAPACITY);
  }

  @Test
  void aShareThatCannotGrowKeepsWhatItHas() {
    var share = budget.open();
    assertThat(share.grow(1000)).isTrue();
    assertThat(share.grow(CAPACITY)).isFalse();
    assertThat(budget.taken()).isEqualTo(1000);
  }

  @Test
  void aShareTakesWhatIsFreeWithinItsBounds() {
    assertThat(budget.open().grow(CAPACITY * 5 / 8)).isTrue();

    var share = budget.open();
    assertThat(share.takeUpTo(1000, CAPACITY)).isEqualTo(CAPACITY / 8);
    assertThat(budget.open().takeUpTo(100_000, CAPACITY)).isZero();
    assertThat(budget.open().takeUpTo(1000, CAPACITY)).isEqualTo(MemoryBudget.SMALL);
    assertThat(share.resizeTo(10)).isTrue();
    assertThat(budget.taken()).isEqualTo(CAPACITY * 5 / 8 + MemoryBudget.SMALL + 10);
  }
}
