package dev.sessionkeeper.cli;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.ProblemException;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
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
        "Check Java, the server, its certificate, its store and the credential; exit code 1 if"
            + " something is wrong.")
final class Doctor implements Callable<Integer> {
  @Mixin Remote remote = new Remote();

  /** The alert KeeperCertificateEnding warns equally early. */
  private static final Duration SOON = Duration.ofDays(14);

  private record Finding(String what, boolean good, String detail) {}

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      var findings = new ArrayList<Finding>();
      findings.add(java());
      var server = look("server", () -> live(client));
      findings.add(server);
      if (server.good()) {
        // A server that is not reached says nothing about the rest.
        remote.certificateEnds().map(Doctor::certificate).ifPresent(findings::add);
        findings.add(look("store", () -> ready(client)));
        findings.add(look("credential", () -> readable(client)));
      }
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

  private static Finding certificate(Instant end) {
    var left = Duration.between(TimeSource.system().instant(), end);
    var renew = ". Replace the files of server.tls, then: " + Keeper.command() + " reload";
    if (left.isNegative()) {
      return new Finding("certificate", false, "has expired on " + day(end) + renew);
    }
    var days = "ends on " + day(end) + ", in " + left.toDays() + " days";
    boolean isSoon = left.compareTo(SOON) < 0;
    return new Finding("certificate", !isSoon, isSoon ? days + renew : days);
  }

  private static String day(Instant at) {
    return at.atZone(ZoneOffset.UTC).toLocalDate().toString();
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
        .map(
            check ->
                (check.getKey().equals("store") ? "" : check.getKey() + ": ")
                    + check.getValue().asString(""))
        .collect(Collectors.joining("; "));
  }

  private static String readable(KeeperClient client) {
    var queues = client.get("/queues", Map.of("limit", "1000")).path("queues");
    return "may read; " + Amount.of(queues.size(), "queue");
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
