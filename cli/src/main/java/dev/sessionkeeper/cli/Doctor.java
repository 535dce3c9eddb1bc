package dev.sessionkeeper.cli;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.ProblemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Checks for common problems and says what to do. */
@Command(
    name = "doctor",
    description =
        "Check Java, the server, its store and the credential; exit code 1 if something is wrong.")
final class Doctor implements Callable<Integer> {
  @Mixin Remote remote = new Remote();

  private record Finding(String what, boolean good, String detail) {}

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      var findings = new ArrayList<Finding>();
      findings.add(java());
      findings.add(look("server", () -> live(client)));
      findings.add(look("store", () -> ready(client)));
      findings.add(look("credential", () -> readable(client)));
      show(findings);
      return findings.stream().allMatch(Finding::good) ? Exit.OK : Exit.FAILED;
    }
  }

  private static Finding java() {
    int version = Runtime.version().feature();
    return new Finding(
        "java",
        version >= 21,
        version >= 25
            ? "Java " + version
            : "Java " + version + "; 25 or newer runs virtual threads without pinning");
  }

  private String live(KeeperClient client) {
    client.get("/health/live", Map.of());
    return "answers at " + client.server();
  }

  private static String ready(KeeperClient client) {
    var health = client.get("/health/ready", Map.of());
    var wrong = wrong(health.path("checks"));
    return "is " + health.path("status").asString("ready") + (wrong.isEmpty() ? "" : "; " + wrong);
  }

  /** Returns the checks that are not "up", each with its reason. */
  private static String wrong(JsonNode checks) {
    return checks.properties().stream()
        .filter(check -> !check.getValue().asString("").equals("up"))
        .map(check -> check.getKey() + ": " + check.getValue().asString(""))
        .collect(Collectors.joining("; "));
  }

  private static String readable(KeeperClient client) {
    var queues = client.get("/queues", Map.of("limit", "1000")).path("queues");
    return "may read; " + queues.size() + " queues";
  }

  private static Finding look(String what, Supplier<String> check) {
    try {
      return new Finding(what, true, check.get());
    } catch (KeeperException.Unavailable e) {
      return new Finding(what, false, ExplainConnection.of(e));
    } catch (ProblemException e) {
      var checks = wrong(e.document().path("checks"));
      var why = checks.isEmpty() ? String.valueOf(e.getMessage()) : checks;
      boolean isAnswer = !what.equals("credential") || e.status() == 401 || e.status() == 403;
      return new Finding(what, false, isAnswer ? why : "could not be checked: " + why);
    }
  }

  private void show(List<Finding> findings) {
    var terminal = Terminal.standard();
    var answer = JsonNodeFactory.instance.objectNode();
    var checks = answer.putArray("checks");
    var text = new StringBuilder();
    for (var finding : findings) {
      checks
          .addObject()
          .put("check", finding.what())
          .put("good", finding.good())
          .put("detail", finding.detail());
      text.append(text.isEmpty() ? "" : "\n")
          .append(finding.good() ? terminal.green("ok    ") : terminal.red("wrong "))
          .append(finding.what())
          .append(": ")
          .append(finding.detail());
    }
    remote.tell(answer, text.toString());
  }
}
