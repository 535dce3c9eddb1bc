package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests operators' acts; a destructive one asks for confirmation first. */
class OnCallTest {
  private KeeperServer server;

  @BeforeEach
  void start() {
    var sources =
        ConfigSources.of(
            Optional.empty(), Map.of(), Map.of("server.port", "0", "store.url", "memory"));
    server = KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
    keeper("queues", "create", "orders");
    keeper("send", "orders", "-s", "a", "{\"item\":\"tea\"}", "2");
  }

  @AfterEach
  void stop() {
    System.clearProperty("keeper.stdin");
    server.close();
  }

  @Test
  void withoutATerminalAQueueIsDeletedOnlyWithYes() {
    var refused = keeper("queues", "delete", "orders");
    assertThat(refused.code()).isEqualTo(Exit.USAGE);
    assertThat(refused.err())
        .contains("delete queue orders with 2 messages and 0 dead letters", "--yes");
    assertThat(keeper("queues", "show", "orders").code()).isZero();

    assertThat(keeper("queues", "delete", "orders", "--yes").out()).contains("Deleted orders.");
    assertThat(keeper("queues", "show", "orders").code()).isEqualTo(Exit.FAILED);
  }

  @Test
  void onATerminalTheAnswerDecides() {
    for (var no : List.of("", "n\n", "nonsense\n")) {
      var asked = answering(no, "queues", "purge", "orders");
      assertThat(asked.err()).contains("Continue? [y/N]", "Nothing was changed.");
      assertThat(asked.code()).isEqualTo(Exit.FAILED);
    }
    assertThat(answering("y\n", "queues", "purge", "orders").out())
        .contains("Purged orders: 2 messages deleted.");
    assertThat(keeper("queues", "show", "orders", "-o", "json").json().path("depth").asInt())
        .isZero();
  }

  @Test
  void allMessagesOfASessionBecomeDeadLettersOnlyWithYes() {
    assertThat(keeper("sessions", "dead-letter-all", "orders", "a").code()).isEqualTo(Exit.USAGE);
    assertThat(keeper("sessions", "dead-letter-all", "orders", "a", "-y").out())
        .contains("2 messages of a are dead letters now.");
  }

  @Test
  void aDeadLetterIsListedShownAndDiscarded() {
    keeper("sessions", "dead-letter-all", "orders", "a", "-y", "-r", "cannot be parsed");
    assertThat(keeper("dead-letters", "list", "orders").out())
        .contains("LAST ERROR", "cannot be parsed");
    var id =
        keeper("dead-letters", "list", "orders", "-o", "json")
            .json()
            .path("deadLetters")
            .get(0)
            .path("id")
            .asString();

    assertThat(keeper("dead-letters", "show", "orders", id).out())
        .contains("cannot be parsed", "last error", "\"item\" : \"tea\"");

    assertThat(keeper("dead-letters", "discard", "orders", id).code()).isEqualTo(Exit.USAGE);
    assertThat(keeper("dead-letters", "discard", "orders").err()).contains("--all");
    assertThat(keeper("dead-letters", "discard", "orders", id, "-y").out())
        .contains("Discarded 1.");
    assertThat(keeper("dead-letters", "show", "orders", id).code()).isEqualTo(Exit.FAILED);
    assertThat(keeper("dead-letters", "discard", "orders", "--all", "-y").out())
        .contains("Discarded 1.");
  }

  @Test
  void aFailureIsJsonWhereJsonIsAskedFor() {
    var unknown = keeper("queues", "show", "none", "-o", "json");
    assertThat(unknown.code()).isEqualTo(Exit.FAILED);
    assertThat(unknown.out()).isEmpty();
    var error = unknown.error().path("error");
    assertThat(error.path("exitCode").asInt()).isEqualTo(Exit.FAILED);
    assertThat(error.path("problem").path("type").asString()).endsWith("/unknown-queue");

    var away = Ran.keeper("queues", "--url", "http://127.0.0.1:1", "--output=json");
    assertThat(away.error().path("error").path("exitCode").asInt()).isEqualTo(Exit.UNAVAILABLE);

    var wrong = keeper("queues", "delete", "orders", "-o", "json");
    assertThat(wrong.error().path("error").path("message").asString()).contains("--yes");
    assertThat(wrong.code()).isEqualTo(Exit.USAGE);
  }

  @Test
  void demoAndBenchLeaveNoQueuesBehind() {
    assertThat(keeper("bench", "--messages", "200", "--sessions", "5").code()).isZero();
    assertThat(keeper("demo", "--sessions", "4", "--messages", "5", "--consumers", "2").code())
        .isZero();
    assertThat(keeper("queues").out()).contains("orders").doesNotContain("bench-", "demo-");
  }

  @Test
  void escapesGoOnlyToATerminalThatTakesThem() {
    assertThat(Terminal.takesEscapes(Map.of("TERM", "xterm"))).isTrue();
    assertThat(Terminal.takesEscapes(Map.of("TERM", "xterm", "NO_COLOR", ""))).isTrue();
    assertThat(Terminal.takesEscapes(Map.of("TERM", "dumb"))).isFalse();
    assertThat(Terminal.takesEscapes(Map.of())).isFalse();
    assertThat(Terminal.takesEscapes(Map.of("TERM", "xterm", "NO_COLOR", "1"))).isFalse();
    assertThat(keeper("--help").out() + keeper("queues", "explode").err()).doesNotContain("\u001b");
  }

  private Ran answering(String answer, String... args) {
    var before = System.in;
    System.setProperty("keeper.stdin", "true");
    System.setIn(new ByteArrayInputStream(answer.getBytes(StandardCharsets.UTF_8)));
    try {
      return keeper(args);
    } finally {
      System.setIn(before);
      System.clearProperty("keeper.stdin");
    }
  }

  private Ran keeper(String... args) {
    var line = new ArrayList<>(List.of(args));
    if (!args[0].startsWith("-")) {
      line.addAll(List.of("--url", server.address()));
    }
    return Ran.keeper(line.toArray(String[]::new));
  }
}
