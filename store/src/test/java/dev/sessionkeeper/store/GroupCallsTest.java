package dev.sessionkeeper.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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

  /** A single caller needs no platform thread; many callers must not wait for a carrier. */
  @Test
  void aCrowdIsServedByAPlatformThreadAndWhoIsAloneByAVirtualOne() {
    var wereVirtual = Collections.synchronizedList(new ArrayList<Boolean>());
    var calls =
        new GroupCalls<Integer>(
            "test",
            3,
            Rhythm.atOnce(),
            group -> {
              wereVirtual.add(Thread.currentThread().isVirtual());
              take(group);
            });
    calls.add(1);
    Awaitility.await().until(() -> groups.size() == 1);
    for (int i = 2; i <= 8; i++) {
      calls.add(i);
    }
    first.countDown();
    Awaitility.await().until(() -> groups.size() == 4);
    Awaitility.await()
        .untilAsserted(
            () -> {
              calls.add(0);
              assertThat(wereVirtual.getLast()).isTrue();
            });

    // One; three, which shows the load; then three and one by the other thread.
    assertThat(groups.subList(0, 4))
        .containsExactly(List.of(1), List.of(2, 3, 4), List.of(5, 6, 7), List.of(8));
    assertThat(wereVirtual.subList(0, 4)).containsExactly(true, true, false, false);
  }

  /** Otherwise the next batch would wait for callers that do not exist. */
  @Test
  void whoIsBackBeforeTheLastOneIsAnsweredIsNotTakenForSomebodyElse() {
    var told = Collections.synchronizedList(new ArrayList<List<Integer>>());
    var calls = new AtomicReference<GroupCalls<Integer>>();
    calls.set(
        new GroupCalls<>(
            "test",
            10,
            new Rhythm() {
              @Override
              public void begin(AtomicInteger waiting) {}

              @Override
              public void ended(int size, int others) {
                told.add(List.of(size, others));
              }
            },
            group -> {
              take(group);
              calls.get().answers();
              if (told.isEmpty()) {
                group.forEach(calls.get()::add);
              }
            }));
    calls.get().add(1);
    Awaitility.await().until(() -> groups.size() == 1);
    calls.get().add(2);
    calls.get().add(3);
    first.countDown();

    Awaitility.await().until(() -> told.size() == 2);
    assertThat(groups).containsExactly(List.of(1), List.of(2, 3, 1));
    assertThat(told).as("size, others").containsExactly(List.of(1, 2), List.of(3, 0));
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
