package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs the commands on queues against a real server in this process. */
@Tag("slow")
class QueuesTest {
  private KeeperServer server;

  @BeforeEach
  void start() {
    var sources =
        ConfigSources.of(
            Optional.empty(), Map.of(), Map.of("server.port", "0", "store.url", "memory"));
    server = KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void creatingAQueueAgainChangesNothing() {
    assertThat(createStrict().out()).contains("Created strict.");
    var again = queues("create", "strict");
    assertThat(again.code()).isZero();
    assertThat(again.out()).contains("Queue strict exists; nothing was changed.");
    var settings = queues("show", "strict", "-o", "json").json();
    assertThat(settings.path("poisonPolicy").asString()).isEqualTo("PARK_SESSION");
    assertThat(settings.path("maxDeliveryCount").asInt()).isEqualTo(20);
    assertThat(settings.path("lockDuration").asString()).isEqualTo("PT5M");
  }

  @Test
  void creatingAQueueAgainTellsWhatItChanged() {
    createStrict();
    var changed = queues("create", "strict", "--lock-duration", "2m", "--message-ttl", "48h");
    assertThat(changed.out())
        .contains("Queue strict exists; changed:")
        .contains("lock-duration: 5m → 2m")
        .contains("message-ttl: 1d → 2d")
        .doesNotContain("max-delivery-count", "poison-policy");
  }

  @Test
  void anUnorderedQueueIsCreatedAgainWithoutSayingItsMode() {
    queues("create", "loose", "--mode", "UNORDERED");
    assertThat(queues("create", "loose").out()).contains("nothing was changed");
    var refused = queues("create", "loose", "--mode", "ORDERED");
    assertThat(refused.code()).isEqualTo(Exit.FAILED);
  }

  @Test
  void aShownQueueHasItsSettings() {
    createStrict();
    assertThat(queues("show", "strict").out())
        .contains("strict", "ORDERED", "park-session")
        .containsPattern("max-delivery-count +20")
        .containsPattern("lock-duration +5m")
        .containsPattern("message-ttl +1d")
        .containsPattern("duplicate-window +10m");
  }

  private Ran createStrict() {
    return queues(
        "create",
        "strict",
        "--poison-policy",
        "PARK_SESSION",
        "--max-delivery-count",
        "20",
        "--lock-duration",
        "5m");
  }

  private Ran queues(String... args) {
    var line = new java.util.ArrayList<>(java.util.List.of("queues"));
    line.addAll(java.util.List.of(args));
    line.addAll(java.util.List.of("--url", server.address()));
    return Ran.keeper(line.toArray(String[]::new));
  }
}
