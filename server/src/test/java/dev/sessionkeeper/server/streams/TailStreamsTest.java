package dev.sessionkeeper.server.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TailStreamsTest {
  private final CountedLog log = new CountedLog();

  /** Counts the queries. */
  private static final class CountedLog implements StreamLog {
    final MemoryStreamLog inner =
        new MemoryStreamLog(() -> Duration.ofDays(1), TimeSource.system());
    final AtomicInteger looks = new AtomicInteger();

    @Override
    public List<NewEvent.Appended> append(String stream, List<NewEvent> events) {
      return inner.append(stream, events);
    }

    @Override
    public OptionalLong find(String stream, String externalId) {
      return inner.find(stream, externalId);
    }

    @Override
    public List<Named> list(String prefix, String after, int limit) {
      return inner.list(prefix, after, limit);
    }

    @Override
    public List<StreamEvent> read(String stream, long after, int limit, long maxBytes) {
      return inner.read(stream, after, limit, maxBytes);
    }

    @Override
    public Bounds bounds(String stream) {
      return inner.bounds(stream);
    }

    @Override
    public Map<String, Long> lastIds(Collection<String> streams) {
      looks.incrementAndGet();
      return inner.lastIds(streams);
    }

    @Override
    public int forgetOlderThan(Duration age, int most) {
      return inner.forgetOlderThan(age, most);
    }
  }

  @Test
  void aNoticeEndsTheWaitAndALostOneOnlyDelaysIt() {
    try (var tails = new TailStreams(log, Optional.empty())) {
      var tail = tails.join("s", 0);
      log.append("s", List.of(NewEvent.of("e", "1")));
      tails.heard("s");
      await().until(() -> tail.last() == 1);
      // No notification is sent for this event.
      log.append("s", List.of(NewEvent.of("e", "2")));
      await().until(() -> tail.last() == 2);
    }
  }

  @Test
  void theTailsOfAllStreamsShareTheirMemory() {
    try (var tails = new TailStreams(log, Optional.empty())) {
      var tail = tails.join("s", 0);
      appendLarge(3);
      await().until(() -> tail.last() == 3);
      assertThat(tail.after(0, Long.MAX_VALUE).orElseThrow()).hasSize(3);
      for (int i = 0; i < 63; i++) {
        tails.join("other-" + i, 0);
      }
      appendLarge(1);
      await().until(() -> tail.last() == 4);
      assertThat(tail.after(0, Long.MAX_VALUE)).as("a reader that is behind").isEmpty();
      assertThat(tail.after(3, Long.MAX_VALUE).orElseThrow()).hasSize(1);
    }
  }

  private void appendLarge(int count) {
    for (int i = 0; i < count; i++) {
      log.append("s", List.of(NewEvent.of("e", "x".repeat(300_000))));
    }
  }

  @Test
  void nothingLooksWhileNobodyReads() throws Exception {
    try (var tails = new TailStreams(log, Optional.empty())) {
      tails.heard("s");
      tails.everything();
      tails.leave(tails.join("s", 0));
      int before = log.looks.get();
      await().during(Duration.ofMillis(300)).until(() -> log.looks.get() - before <= 1);
    }
  }

  @Test
  void aNoticeOfAnotherStreamWakesNobody() {
    try (var tails = new TailStreams(log, Optional.empty())) {
      tails.join("s", 0);
      await().until(() -> log.looks.get() > 0);
      int before = log.looks.get();
      for (int i = 0; i < 10_000; i++) {
        tails.heard("other");
      }
      assertThat(log.looks.get() - before).isLessThan(100);
    }
  }
}
