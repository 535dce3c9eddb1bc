package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigError;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.InvalidConfig;
import dev.sessionkeeper.server.config.KeeperConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BotsConfigTest {
  private static KeeperConfig read(String yaml) {
    return ReadConfig.from(
        new ConfigSources(
            "keeper.yaml",
            yaml,
            Path.of("").toAbsolutePath(),
            Map.of("HOOK", "a secret of github"),
            Map.of()));
  }

  private static List<String> errorsOf(String yaml) {
    return catchThrowableOfType(InvalidConfig.class, () -> read(yaml)).errors().stream()
        .map(ConfigError::toString)
        .toList();
  }

  @Test
  void everyMistakeIsToldWithItsLineAndColumn() {
    var errors =
        errorsOf(
            """
            github: { secrets: ["env:NOT_SET"], max_body: 26MB, surprise: 1 }
            bots:
              - name: one
                events: ["is sues"]
                session_idle_timeout: 2
              - name: two
                max_concurrent_sessions: many
                deliver: { url: "ftp://x", secret: "env:NOT_SET" }
            server: { port: x }
            """);
    assertThat(errors)
        .anyMatch(error -> error.startsWith("keeper.yaml:1:21: github.secrets[0]"))
        .anyMatch(error -> error.contains("github.max_body"))
        .anyMatch(error -> error.contains("github.surprise"))
        .anyMatch(error -> error.startsWith("keeper.yaml:4:14: bots[0].events[0]"))
        .anyMatch(error -> error.startsWith("keeper.yaml:5:5: bots[0].session_idle_timeout"))
        .anyMatch(error -> error.startsWith("keeper.yaml:7:5: bots[1].max_concurrent_sessions"))
        .anyMatch(error -> error.startsWith("keeper.yaml:8:16: bots[1].deliver.url"))
        .anyMatch(error -> error.startsWith("keeper.yaml:8:32: bots[1].deliver.secret"))
        .anyMatch(error -> error.contains("server.port"));
  }

  @Test
  void aNameThatIsGivenTwiceIsToldWhereItIsGivenAgain() {
    var errors =
        errorsOf(
            """
            bots:
              - { name: one, events: ["issues.*"] }
              - name: one
                events: ["push"]
            """);
    assertThat(errors)
        .hasSize(1)
        .first()
        .asString()
        .startsWith("keeper.yaml:3:")
        .contains("bots[1]", "one");
  }

  @Test
  void limitsAndQueueSettingsMayStandApart() {
    var bots =
        read("""
                bots:
                  - { name: task-tactician, events: ["issues.*"] }
                session_limits:
                  task_tactician: { max_concurrent_sessions: 7 }
                service_bus_queues:
                  queue-keeper-task-tactician: { default_message_ttl: 2h }
                """)
            .get(BotsConfig.SECTION)
            .bots();
    assertThat(bots).hasSize(1);
    assertThat(bots.getFirst().limits().maxConcurrentSessions()).isEqualTo(7);
    assertThat(bots.getFirst().queueSettings().messageTtl()).isEqualTo(Duration.ofHours(2));
  }

  @Test
  void aSecretInTheFileAndAnUnknownEventAreWarnedAbout() {
    var config =
        read(
            """
            github: { secrets: ["written down"], max_body: 1MB }
            bots: [ { name: one, events: ["isues"] } ]
            """);
    assertThat(config.warnings())
        .anyMatch(w -> w.contains("secret"))
        .anyMatch(w -> w.contains("isues"));
    assertThat(config.get(GithubConfig.SECTION).maxBody()).isEqualTo(1 << 20);
    assertThat(config.get(GithubConfig.SECTION).toString()).doesNotContain("written down");
  }

  @Test
  void withoutTheSectionsThereAreNoBotsAndNobodyIsGitHub() {
    var config = read("");
    assertThat(config.get(BotsConfig.SECTION).bots()).isEmpty();
    assertThat(config.get(GithubConfig.SECTION).reader()).isEmpty();
  }
}
