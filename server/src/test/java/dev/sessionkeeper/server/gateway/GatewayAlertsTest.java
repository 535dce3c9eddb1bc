package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Every metric that an alert uses exists. */
class GatewayAlertsTest {
  private static final Pattern EXPRESSION = Pattern.compile("expr: (.*)");
  private static final Pattern NAME = Pattern.compile("keeper_[a-z_]+");

  @Test
  void everyNumberOfTheAlertsIsThere() throws IOException {
    var rules = Files.readString(Path.of("..", "ops", "gateway-alerts.yml"));
    var names =
        EXPRESSION
            .matcher(rules)
            .results()
            .flatMap(expression -> NAME.matcher(expression.group(1)).results())
            .map(MatchResult::group)
            .distinct()
            .toList();
    assertThat(names).hasSizeGreaterThan(6);
    try (var receiver = new Receiver(post -> Receiver.Answer.of(200));
        var server = GatewayServer.start(bots(receiver))) {
      server.deliver("pull_request", pull("acme/app", 1, 1));
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(server.get("/metrics").text())
                      .satisfies(
                          shown ->
                              assertThat(names)
                                  .allSatisfy(name -> assertThat(shown).contains("\n" + name))));
    }
  }

  @Test
  void theAlertsRingAsTheirTestsSayWithOneServerAndWithThree() throws Exception {
    var promtool = promtool();
    assumeTrue(promtool.isPresent(), "promtool is not installed: apt-get install prometheus");
    var ops = Path.of("..", "ops").toAbsolutePath().normalize();
    try (var files = Files.list(ops.resolve("tests"))) {
      assertThat(files.toList())
          .isNotEmpty()
          .allSatisfy(tests -> run(promtool.get().toString(), "test", "rules", tests.toString()));
    }
    try (var files = Files.list(ops)) {
      assertThat(files.filter(file -> file.toString().endsWith("-alerts.yml")))
          .hasSize(4)
          .allSatisfy(rules -> run(promtool.get().toString(), "check", "rules", rules.toString()));
    }
  }

  private static Optional<Path> promtool() {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .map(folder -> Path.of(folder, "promtool"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static void run(String... command) throws IOException, InterruptedException {
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (var said = process.inputReader()) {
      var text = said.lines().collect(Collectors.joining("\n"));
      assertThat(process.waitFor()).as(text).isZero();
    }
  }

  private static String bots(Receiver receiver) {
    return """
        bots:
          - name: pushed
            events: ["*"]
            session_idle_timeout: 200ms
            deliver: { url: "%s", allow_private_targets: true }
        """
        .formatted(receiver.url());
  }
}
