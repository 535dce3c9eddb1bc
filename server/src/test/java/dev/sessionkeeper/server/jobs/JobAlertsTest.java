package dev.sessionkeeper.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The metrics of jobs exist from the start: an alert misses the first increment of a later one. */
class JobAlertsTest {
  private static final Path RULES = Path.of("..", "ops", "jobs-alerts.yml");
  private static final Pattern EXPRESSION = Pattern.compile("expr: (.*)");
  private static final Pattern NAME = Pattern.compile("keeper_[a-z_]+");
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start("", TestDatabase.create().environment());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void everyNumberOfTheAlertsIsThere() throws IOException {
    var names =
        EXPRESSION
            .matcher(Files.readString(RULES))
            .results()
            .flatMap(expression -> NAME.matcher(expression.group(1)).results())
            .map(MatchResult::group)
            .distinct()
            .toList();
    assertThat(names).hasSizeGreaterThan(8);
    var shown = server.get("/metrics").body();
    assertThat(names).allSatisfy(name -> assertThat(shown).contains("\n" + name));
  }

  @Test
  void countersAndTheAgeOfTheLastSuccessAreThereForEveryJobFromTheStart() {
    var shown = server.get("/metrics").body();
    for (var job : new String[] {"usage-tick", "session-expiry", "event-retention"}) {
      assertThat(shown)
          .contains("keeper_job_alerts_total{job_name=\"" + job + "\"} 0.0")
          .contains("keeper_job_leases_lost_total{job_name=\"" + job + "\"} 0.0")
          .containsPattern("keeper_job_last_success_age_seconds\\{job_name=\"" + job + "\"} \\d");
    }
    assertThat(shown).containsPattern("keeper_usage_oldest_unmetered_seconds \\d");
  }

  @Test
  void theOwnerOfAJobNamesItsProcess() {
    var pid = Long.toString(ProcessHandle.current().pid());
    server.post("/jobs/usage-reconciliation/run", "{}");
    org.awaitility.Awaitility.await()
        .until(
            () ->
                server
                    .get("/jobs/usage-reconciliation")
                    .json()
                    .path("history")
                    .path(0)
                    .path("owner")
                    .asString("")
                    .matches("server-.+-" + pid + "-[0-9a-f]{8}"));
  }
}
