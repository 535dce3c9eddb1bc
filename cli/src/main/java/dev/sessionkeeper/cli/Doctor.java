package dev.sessionkeeper.cli;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.ProblemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.node.JsonNodeFactory;

/** Looks at what usually goes wrong and says what to do. */
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
    return "is " + client.get("/health/ready", Map.of()).path("status").asString("ready");
  }

  private static String readable(KeeperClient client) {
    var queues = client.get("/queues", Map.of("limit", "1000")).path("queues");
    return "may read; " + queues.size() + " queues";
  }

  private static Finding look(String what, Supplier<String> check) {
    try {
      return new Finding(what, true, check.get());
    } catch (KeeperException.Unavailable e) {
      return new Finding(what, false, "no answer; start one with: ./keeper serve");
    } catch (ProblemException e) {
      return new Finding(what, false, String.valueOf(e.getMessage()));
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
