package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.DeadLetterHandler.Decision;
import dev.sessionkeeper.spi.QueueProvider;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Dead letters are shown to a handler that decides about them. */
class DeadLetterProcessorTest {
  private static final Duration OFTEN = Duration.ofMillis(5);

  private final Workbench bench = Workbench.ordered();
  private final List<String> shown = new CopyOnWriteArrayList<>();

  @BeforeEach
  void setAside() {
    bench.holds("a1", "b1");
    // One session at a time, because two have no order.
    try (var processor =
        bench
            .processor((delivery, session) -> Settlement.deadLetter("no"))
            .maxConcurrentSessions(1)
            .build()
            .start()) {
      eventually().until(() -> dead() == 2);
    }
  }

  @AfterEach
  void close() {
    bench.close();
  }

  private long dead() {
    return bench.provider.stats(Workbench.QUEUE).deadLetters();
  }

  private DeadLetterProcessor deciding(DeadLetterHandler handler) {
    return DeadLetterProcessor.start(
        bench.provider,
        Workbench.QUEUE,
        letter -> {
          shown.add(letter.message().payload().asText());
          return handler.handle(letter);
        },
        OFTEN);
  }

  @Test
  void aDeadLetterIsReplayedOrDiscarded() {
    try (var letters =
        deciding(
            letter ->
                letter.message().payload().asText().equals("a1")
                    ? Decision.REPLAY
                    : Decision.DISCARD)) {
      eventually().until(() -> dead() == 0);
    }
    assertThat(shown).containsExactly("a1", "b1");
    assertThat(bench.depth()).isEqualTo(1);
  }

  @Test
  void aKeptDeadLetterIsShownOnceAndAFailureShowsItAgain() {
    var failures = new AtomicInteger();
    try (var letters =
        deciding(
            letter -> {
              if (letter.message().payload().asText().equals("b1")
                  && failures.incrementAndGet() < 3) {
                throw new IllegalStateException("not yet");
              }
              return Decision.KEEP;
            })) {
      eventually().until(() -> failures.get() == 3);
    }
    assertThat(shown).containsExactly("a1", "b1", "b1", "b1");
    assertThat(dead()).isEqualTo(2);
  }

  @Test
  void aProviderWithoutDeadLettersIsRefused() {
    var capabilities = bench.provider.capabilities();
    var plain =
        (QueueProvider)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {QueueProvider.class},
                (proxy, method, arguments) -> capabilities);

    assertThatThrownBy(
            () ->
                DeadLetterProcessor.start(
                    plain, Workbench.QUEUE, letter -> Decision.KEEP, Duration.ofSeconds(1)))
        .hasMessageContaining("cannot show dead letters");
  }
}
