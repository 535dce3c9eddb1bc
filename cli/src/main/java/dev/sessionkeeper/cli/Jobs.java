package dev.sessionkeeper.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;

/** Shows the jobs of the product and lets a person run, pause or resume one. */
@Command(
    name = "jobs",
    description = "List jobs: owner, epoch, lease, next run.",
    subcommands = {Jobs.Run.class, Jobs.Pause.class, Jobs.Resume.class})
final class Jobs implements Callable<Integer> {
  private static final Table TABLE =
      Table.of("name", "state", "owner", "epoch", "leaseUntil", "nextRunAt", "attempts");

  @Mixin Remote remote = new Remote();

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      remote.show(client.get("/jobs", Map.of()), "jobs", TABLE, "No jobs.");
      return Exit.OK;
    }
  }

  /** What run, pause and resume have in common. */
  abstract static class Step implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "JOB")
    String job = "";

    private final String action;

    Step(String action) {
      this.action = action;
    }

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        remote.tell(
            client.post("/jobs/" + job + "/" + action, JsonNodeFactory.instance.objectNode()),
            action + ": " + job + ".");
        return Exit.OK;
      }
    }
  }

  @Command(name = "run", description = "Run it as soon as a node is free.")
  static final class Run extends Step {
    Run() {
      super("run");
    }
  }

  @Command(name = "pause", description = "Do not run it until it is resumed.")
  static final class Pause extends Step {
    Pause() {
      super("pause");
    }
  }

  @Command(name = "resume", description = "Take a pause back.")
  static final class Resume extends Step {
    Resume() {
      super("resume");
    }
  }
}
