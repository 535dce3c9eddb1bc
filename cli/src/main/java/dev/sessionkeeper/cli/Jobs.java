package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;

/** Lists jobs, and runs, pauses or resumes one. */
@Command(name = "jobs", description = "List jobs with owner, epoch, lease and next run.")
final class Jobs implements Callable<Integer> {
  private static final Table TABLE =
      Table.of(
          "name",
          "interval",
          "paused",
          "owner",
          "epoch",
          "leaseUntil",
          "nextRunAt",
          "attempts",
          "lastError");

  @Mixin Remote remote = new Remote();
  @Mixin Watch watch = new Watch();

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      return watch.show(remote, () -> client.get("/jobs", Map.of()), "jobs", TABLE, "No jobs.");
    }
  }

  /** Selects a job. */
  static final class Target {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "JOB")
    String job = "";

    int act(String action, String done) {
      try (var client = remote.open()) {
        var path = "/jobs/" + KeeperClient.encoded(job) + "/" + action;
        remote.tell(client.post(path, JsonNodeFactory.instance.objectNode()), job + " " + done);
        return Exit.OK;
      }
    }
  }

  @Command(description = "Run a job as soon as a server is free.")
  int run(@Mixin Target target) {
    return target.act("run", "runs as soon as a server is free.");
  }

  @Command(description = "Pause a job: it does not run until it is resumed.")
  int pause(@Mixin Target target) {
    return target.act("pause", "is paused.");
  }

  @Command(description = "Resume a paused job.")
  int resume(@Mixin Target target) {
    return target.act("resume", "is resumed.");
  }
}
