package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MessageRingTest {
  private static final Message MESSAGE = Message.of(SessionId.of("a"), Payload.empty());

  private final MessageRing ring = new MessageRing();

  @Test
  void itBehavesLikeAListWhateverIsDoneToIt() {
    var model = new ArrayList<Long>();
    var random = new Random(17);
    for (int step = 1; step <= 20_000; step++) {
      int dice = random.nextInt(100);
      if (dice < 52) {
        ring.add(message(step));
        model.add((long) step);
      } else if (!model.isEmpty() && dice < 95) {
        assertThat(ring.removeFirst().sequence).isEqualTo(model.removeFirst());
      } else if (!model.isEmpty()) {
        int index = random.nextInt(model.size());
        assertThat(ring.remove(index).sequence).isEqualTo(model.remove(index));
      }
      assertThat(ring.size()).isEqualTo(model.size());
    }
    assertThat(sequences()).isEqualTo(model);
  }

  @Test
  void aMessageIsPutWhereItsSequenceBelongs() {
    for (long sequence : List.of(2L, 4L, 6L, 8L, 10L)) {
      ring.add(message(sequence));
    }
    ring.removeFirst();

    ring.insert(message(5), 0);
    ring.insert(message(3), 2);
    ring.insert(message(99), 0);

    assertThat(sequences()).containsExactly(4L, 5L, 3L, 6L, 8L, 10L, 99L);
    ring.sortBySequence();
    assertThat(sequences()).containsExactly(3L, 4L, 5L, 6L, 8L, 10L, 99L);
  }

  @Test
  void whatIsNotThereIsRefused() {
    assertThatThrownBy(() -> ring.get(0)).isInstanceOf(IndexOutOfBoundsException.class);
    ring.add(message(1));
    assertThatThrownBy(() -> ring.get(1)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  private List<Long> sequences() {
    var all = new ArrayList<Long>();
    for (int i = 0; i < ring.size(); i++) {
      all.add(ring.get(i).sequence);
    }
    return all;
  }

  private static Stored message(long sequence) {
    return new Stored(MESSAGE, sequence, Instant.EPOCH, 0, Ticks.NEVER, 0);
  }
}
