package dev.sessionkeeper.server.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.activity.LastSeen;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BeatTest {
  private final LastSeen lastSeen =
      LastSeen.open(Optional.empty(), new SimpleMeterRegistry(), TimeSource.system());
  private final Beat one = new Beat(lastSeen, TimeSource.system(), "one:1", "1.0");
  private final Beat other = new Beat(lastSeen, TimeSource.system(), "other:2", "1.0");

  @AfterEach
  void end() {
    one.close();
    other.close();
    lastSeen.close();
  }

  @Test
  void aServerThatDrainsSaysSoAndOneThatHasEndedIsNotMissed() {
    one.start();
    other.start();
    await().until(() -> other.nodes().size() == 2);
    assertThat(other.nodes()).noneMatch(Beat.Node::draining).noneMatch(Beat.Node::silent);

    one.drain();
    await().until(() -> sees(Beat.Node::draining));
    assertThat(other.nodes()).filteredOn(Beat.Node::self).noneMatch(Beat.Node::draining);

    one.close();
    await().until(() -> other.nodes().size() == 1);
    assertThat(other.nodes()).extracting(Beat.Node::name).containsExactly("other:2");
  }

  private boolean sees(Predicate<Beat.Node> state) {
    return other.nodes().stream().anyMatch(node -> node.name().equals("one:1") && state.test(node));
  }
}
