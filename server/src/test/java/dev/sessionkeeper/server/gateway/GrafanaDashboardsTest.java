package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** Every metric in a panel is one that a server exports. */
class GrafanaDashboardsTest {
  private static final Path DASHBOARDS = Path.of("..", "ops", "grafana");
  private static final Pattern METRIC = Pattern.compile("keeper_[a-z_]+");

  @Test
  void everyMetricOfEveryDashboardIsExported() throws IOException {
    var metrics = new TreeSet<String>();
    for (var dashboard : dashboards()) {
      for (var expression : dashboard.findValuesAsString("expr")) {
        METRIC.matcher(expression).results().forEach(found -> metrics.add(found.group()));
      }
    }
    assertThat(metrics).hasSizeGreaterThan(30);
    try (var server =
        GatewayServer.start(
            """
            bots:
              - { name: pushed, events: ["*"], deliver: { url: "https://bots.example/hook" } }
            """)) {
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                var exported = server.get("/metrics").text();
                assertThat(metrics)
                    .allSatisfy(name -> assertThat(exported).containsPattern("\n" + name + "[ {]"));
              });
    }
  }

  @Test
  void everyPanelHasATitleADescriptionAndARoomOfItsOwn() throws IOException {
    for (var dashboard : dashboards()) {
      var taken = new ArrayList<int[]>();
      for (var panel : dashboard.get("panels")) {
        assertThat(panel.get("title").asString()).isNotBlank();
        assertThat(panel.get("description").asString()).isNotBlank();
        var room = panel.get("gridPos");
        var here =
            new int[] {
              room.get("x").asInt(),
              room.get("y").asInt(),
              room.get("w").asInt(),
              room.get("h").asInt()
            };
        assertThat(here[0] + here[2]).isLessThanOrEqualTo(24);
        assertThat(taken).noneMatch(other -> overlap(here, other));
        taken.add(here);
      }
    }
  }

  private static boolean overlap(int[] one, int[] other) {
    return one[0] < other[0] + other[2]
        && other[0] < one[0] + one[2]
        && one[1] < other[1] + other[3]
        && other[1] < one[1] + one[3];
  }

  private static List<JsonNode> dashboards() throws IOException {
    var json = new ObjectMapper();
    try (Stream<Path> files = Files.list(DASHBOARDS)) {
      return files.map(file -> json.readTree(file.toFile())).toList();
    }
  }
}
