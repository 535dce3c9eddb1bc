package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.postgres.queue.CountShard;
import java.util.HashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests that no row of counts is changed for ever, and that no count is lost when rows are merged.
 */
class CountShardTest extends ReadsAlone {
  @Test
  void aRowIsLeftAfterSomeChanges() {
    var shard = new CountShard();
    var uses = new HashMap<Long, Integer>();
    for (int i = 0; i < 1000; i++) {
      uses.merge(shard.next(), 1, Integer::sum);
    }
    assertThat(uses.values()).allMatch(count -> count <= 64);
  }

  @Test
  void housekeepingFoldsCountsAndProcessesGoOnCounting() {
    for (int i = 0; i < 200; i++) {
      reader.send(queue, List.of(Message.of(A, Payload.text("x"))));
    }
    assertThat(database.count("tally", queue)).isGreaterThan(2);
    reader.keepHouse();
    assertThat(database.count("tally", queue)).isEqualTo(1);
    send(A, "one more");
    other.keepHouse();
    send(A, "and another one");
    assertThat(other.stats(queue).depth()).isEqualTo(202);
    assertThat(database.count("waiting_message", queue)).isEqualTo(202);
  }
}
