package dev.sessionkeeper.server.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.registry.SessionKind;
import dev.sessionkeeper.time.TimeSource;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class KindSamplesTest {
  private static final Duration DAY = Duration.ofDays(1);

  private final AtomicReference<Map<Integer, Long>> active = new AtomicReference<>(Map.of());
  private final KindSamples samples =
      new KindSamples(
          () -> {
            if (active.get().isEmpty()) {
              throw new KeeperException.Unavailable("the store", new IllegalStateException("away"));
            }
            return active.get();
          },
          List.of(kind(1, "light"), kind(2, "full")),
          TimeSource.system());

  private static SessionKind kind(int number, String name) {
    return new SessionKind(number, name, BigDecimal.ONE);
  }

  @Test
  void eachKindHasItsNumberAtEachTime() {
    active.set(Map.of(1, 3L));
    samples.count();
    active.set(Map.of(1, 2L, 2, 5L));
    samples.count();

    var view = samples.view(DAY);
    assertThat(view.at()).hasSize(2).isSorted();
    assertThat(view.kinds())
        .containsExactly(
            new KindSamples.Line(1, "light", List.of(3L, 2L)),
            new KindSamples.Line(2, "full", List.of(0L, 5L)));
  }

  @Test
  void whileTheStoreIsAwayThereIsNoSample() {
    samples.count();
    assertThat(samples.view(DAY).at()).isEmpty();
    assertThat(samples.view(DAY).kinds()).hasSize(2);
  }
}
