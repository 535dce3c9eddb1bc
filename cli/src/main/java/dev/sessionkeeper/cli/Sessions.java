package dev.sessionkeeper.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows which sessions wait, are held or are set aside, and lets a person step in. */
@Command(
    name = "sessions",
    description =
        "List the sessions of a queue: backlog, head age, owner, why blocked, since when.",
    subcommands = {
      Sessions.Pause.class,
      Sessions.Resume.class,
      Sessions.Park.class,
      Sessions.Release.class,
      Sessions.DeadLetterHead.class,
      Sessions.DeadLetterAll.class
    })
final class Sessions implements Callable<Integer> {
  private static final Table TABLE =
      Table.of(
          "sessionId",
          "status",
          "backlog",
          "headAge",
          "owner",
          "epoch",
          "lockedUntil",
          "attempts",
          "blockedReason",
          "blockedSince");

  @Mixin Remote remote = new Remote();
  @Mixin Paging paging = new Paging();

  @Spec CommandSpec spec = CommandSpec.create();

  /** Optional for picocli, because the acts below have their own. */
  @Parameters(index = "0", arity = "0..1", paramLabel = "QUEUE")
  @Nullable String queue;

  @Option(names = "--status", description = "ready, held, waiting, parked or paused")
  @Nullable String status;

  @Override
  public Integer call() {
    if (queue == null) {
      throw new ParameterException(spec.commandLine(), "Say of which queue: keeper sessions QUEUE");
    }
    try (var client = remote.open()) {
      var page =
          client
              .queue(queue)
              .sessions(
                  Remote.query(
                      "status", status, "limit", paging.limitText(), "cursor", paging.cursor));
      remote.show(page, "sessions", TABLE, "No session of " + queue + " has work.");
      return Exit.OK;
    }
  }

  /** What all acts have in common: queue, session, reason. */
  abstract static class Step implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Parameters(index = "1", paramLabel = "SESSION")
    String session = "";

    @Option(
        names = {"-r", "--reason"},
        defaultValue = "",
        description = "Why; kept for the next person")
    String reason = "";

    private final String action;

    Step(String action) {
      this.action = action;
    }

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        remote.tell(
            client.queue(queue).act(session, action, reason), action + ": " + session + ".");
        return Exit.OK;
      }
    }
  }

  @Command(name = "pause", description = "Hand it out to nobody until it is resumed.")
  static final class Pause extends Step {
    Pause() {
      super("pause");
    }
  }

  @Command(name = "resume", description = "Take a pause or a parking back.")
  static final class Resume extends Step {
    Resume() {
      super("resume");
    }
  }

  @Command(name = "park", description = "Set it aside with everything in it until it is resumed.")
  static final class Park extends Step {
    Park() {
      super("park");
    }
  }

  @Command(name = "release", description = "Take it from its owner.")
  static final class Release extends Step {
    Release() {
      super("release");
    }
  }

  @Command(name = "dead-letter-head", description = "Make its first message a dead letter.")
  static final class DeadLetterHead extends Step {
    DeadLetterHead() {
      super("deadLetterHead");
    }
  }

  @Command(name = "dead-letter-all", description = "Make all its messages dead letters.")
  static final class DeadLetterAll extends Step {
    DeadLetterAll() {
      super("deadLetterAll");
    }
  }
}
