package dev.sessionkeeper.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class RhythmTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  private final List<List<String>> groups = new CopyOnWriteArrayList<>();
  private final AtomicBoolean isNobodyLeft = new AtomicBoolean();
  private final GroupCalls<String> calls =
      new GroupCalls<>(
          "test",
          10,
          Rhythm.apart(TimeSource.system(), LONG, isNobodyLeft::get),
          group -> groups.add(List.copyOf(group)));

  @Test
  void aGroupLeavesAtOnceWhenNobodyElseWillCome() throws Exception {
    calls.add("first");
    await().until(() -> groups.size() == 1);
    calls.add("second");
    Thread.sleep(50);
    assertThat(groups).as("others may come").hasSize(1);

    isNobodyLeft.set(true);
    calls.add("third");
    await().atMost(Duration.ofSeconds(5)).until(() -> groups.size() == 2);
    assertThat(groups).containsExactly(List.of("first"), List.of("second", "third"));

    calls.add("fourth");
    await().atMost(Duration.ofSeconds(5)).until(() -> groups.size() == 3);
  }
}
