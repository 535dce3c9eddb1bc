package dev.sessionkeeper.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GroupCallsTest {
  private final List<List<Integer>> groups = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch first = new CountDownLatch(1);

  @Test
  void callsThatComeMeanwhileLeaveTogetherInOrder() {
    var calls = new GroupCalls<Integer>("test", 3, Rhythm.atOnce(), this::take);
    calls.add(1);
    Awaitility.await().until(() -> groups.size() == 1);
    for (int i = 2; i <= 6; i++) {
      calls.add(i);
    }
    first.countDown();

    Awaitility.await().until(() -> groups.size() == 3);
    assertThat(groups).containsExactly(List.of(1), List.of(2, 3, 4), List.of(5, 6));
  }

  private void take(List<Integer> group) {
    groups.add(group);
    try {
      first.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
