package dev.sessionkeeper.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.testkit.DelegatingProvider;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The API over a broker that counts messages and has no list of sessions, such as SQS. */
class CountedQueuesTest {
  private static final class Counting extends DelegatingProvider implements CountableQueues {
    private final MemoryQueueProvider memory;

    Counting(MemoryQueueProvider memory) {
      super(memory);
      this.memory = memory;
    }

    @Override
    public Counts counts(QueueName queue) {
      var stats = memory.stats(queue);
      return new Counts(stats.depth(), OptionalLong.of(stats.heldSessions()), stats.deadLetters());
    }
  }

  @Test
  void depthAndDeadLettersAreShownAndMeasured() {
    try (var server = TestServer.over(new Counting(MemoryQueueProvider.create()))) {
      server.put("/queues/q", "{\"mode\":\"ORDERED\"}");
      server.post(
          "/queues/q/messages",
          "{\"messages\":[{\"sessionId\":\"s\",\"body\":1},{\"sessionId\":\"s\",\"body\":2}]}");

      var queue = server.get("/queues/q").json();
      assertThat(queue.get("depth").asInt()).isEqualTo(2);
      assertThat(queue.get("dead").asInt()).isZero();
      assertThat(queue.has("ready")).isFalse();
      assertThat(server.get("/metrics").body())
          .contains("keeper_queue_depth{queue=\"q\"} 2.0")
          .contains("keeper_queue_dead_letters{queue=\"q\"} 0.0")
          .contains("keeper_queue_in_flight_messages{queue=\"q\"} 0.0");
    }
  }
}
