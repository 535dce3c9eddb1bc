package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MessageIdTest {
  private static UUID made() {
    return UUID.fromString(MessageId.random().value());
  }

  @Test
  void anIdIsUsedForTheFirstTimeOnce() {
    var ids = IntStream.range(0, 10_000).mapToObj(i -> made()).toList();
    assertThat(ids).doesNotHaveDuplicates();
    assertThat(ids).allMatch(MessageId::claimFirstUse);
    assertThat(ids).noneMatch(MessageId::claimFirstUse);
  }

  @Test
  void anIdThatSomebodyElseMadeIsNot() {
    var mine = made();
    assertThat(MessageId.claimFirstUse(UUID.randomUUID())).isFalse();
    assertThat(
            MessageId.claimFirstUse(
                new UUID(mine.getMostSignificantBits(), mine.getLeastSignificantBits() ^ 0x100)))
        .isFalse();
    assertThat(MessageId.claimFirstUse(mine)).isTrue();
  }

  @Test
  void anIdThatWasMadeLongAgoIsNotKnownAnyMore() {
    var old = made();
    for (int i = 0; i < 1 << 16; i++) {
      made();
    }
    assertThat(MessageId.claimFirstUse(old)).isFalse();
  }
}
