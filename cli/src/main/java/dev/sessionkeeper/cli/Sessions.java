package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists sessions, and pauses, parks, resumes or releases them. */
@Command(
    name = "sessions",
    description =
        "List the sessions of a queue with backlog, age of the first message, owner, and why a session is blocked.",
    subcommands = ShowSession.class)
final class Sessions implements Callable<Integer> {
  private static final Table TABLE =
      Table.of(
          "sessionId",
          "status",
          "backlog",
          "headAge",
          "owner",
          "heldSince",
          "epoch",
          "lockedUntil",
          "attempts",
          "blockedReason",
          "blockedSince");

  @Mixin Remote remote = new Remote();
  @Mixin Paging paging = new Paging();
  @Mixin Watch watch = new Watch();

  @Spec CommandSpec spec = CommandSpec.create();

  /** Optional for picocli, because the subcommands have their own queue argument. */
  @Parameters(index = "0", arity = "0..1", paramLabel = "QUEUE")
  @Nullable String queue;

  @Option(
      names = "--status",
      description = "ready, held, waiting, parked or paused; attention for the last three")
  @Nullable String status;

  @Override
  public Integer call() {
    if (queue == null) {
      throw new ParameterException(spec.commandLine(), "Name the queue: keeper sessions QUEUE");
    }
    try (var client = remote.open()) {
      var query =
          Remote.query("status", status, "limit", paging.limitText(), "cursor", paging.cursor);
      var sessions = client.queue(queue);
      var search = "/queues/" + KeeperClient.encoded(queue) + "/sessions/search";
      return watch.show(
          remote,
          () -> "attention".equals(status) ? client.get(search, query) : sessions.sessions(query),
          "sessions",
          TABLE,
          "No session of " + queue + " has work.");
    }
  }

  /** Selects the session of an act, with its reason. */
  static final class Target {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Parameters(index = "1", paramLabel = "SESSION")
    String session = "";

    @Option(
        names = {"-r", "--reason"},
        defaultValue = "",
        description = "Why; kept for the next operator")
    String reason = "";

    /** Acts on the session, and prints the result. */
    int act(String action, String done) {
      try (var client = remote.open()) {
        var answer = client.queue(queue).act(session, action, reason);
        int affected = answer.path("affected").asInt();
        remote.tell(
            answer,
            affected == 0
                ? "Nothing to do: " + session + " of " + queue + " stays as it is."
                : done.formatted(session, affected));
        return Exit.OK;
      }
    }
  }

  @Command(description = "Pause a session: no consumer can take it until it is resumed.")
  int pause(@Mixin Target target) {
    return target.act("pause", "Paused %s.");
  }

  /** Selects one session to resume, or all of a status. */
  static final class Resumed {
    @Mixin Remote remote = new Remote();

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "SESSION")
    @Nullable String session;

    @Option(names = "--all", description = "All sessions of the status, instead of one")
    boolean all;

    @Option(
        names = "--status",
        description = "With --all: parked, paused or waiting. Default: parked")
    @Nullable String status;

    @Option(
        names = {"-r", "--reason"},
        defaultValue = "",
        description = "Why; kept for the next operator")
    String reason = "";

    int act() {
      if (all == (session != null)) {
        throw new ParameterException(spec.commandLine(), "Name the SESSION, or --all");
      }
      if (session != null) {
        var target = new Target();
        target.remote = remote;
        target.queue = queue;
        target.session = session;
        target.reason = reason;
        return target.act("resume", "Resumed %s.");
      }
      return resumeAll(status == null ? "parked" : status);
    }

    private int resumeAll(String which) {
      try (var client = remote.open()) {
        int resumed = 0;
        var answer = client.queue(queue).resumeAll(which, reason);
        resumed += answer.path("affected").asInt();
        // A call that changed nothing would change nothing again.
        while (answer.path("more").asBoolean(false) && answer.path("affected").asInt() > 0) {
          answer = client.queue(queue).resumeAll(which, reason);
          resumed += answer.path("affected").asInt();
        }
        remote.tell(
            answer,
            resumed == 0
                ? "Nothing to do: no session of " + queue + " is " + which + "."
                : "Resumed " + Amount.of(resumed, "session") + " of " + queue + ".");
        return Exit.OK;
      }
    }
  }

  @Command(
      description = {
        "Resume a paused or parked session. A session that waits for its retry is tried now.",
        "With --all, resume every parked session."
      })
  int resume(@Mixin Resumed resumed) {
    return resumed.act();
  }

  @Command(description = "Park a session: set it aside with all its messages until it is resumed.")
  int park(@Mixin Target target) {
    return target.act("park", "Parked %s.");
  }

  @Command(description = "Take a session from its owner; its open message is delivered again.")
  int release(@Mixin Target target) {
    return target.act("release", "Released %s.");
  }

  @Command(
      name = "dead-letter-head",
      description = "Make the first message of a session a dead letter.")
  int deadLetterHead(@Mixin Target target) {
    return target.act("deadLetterHead", "The first message of %s is a dead letter now.");
  }

  @Command(name = "dead-letter-all", description = "Make all messages of a session dead letters.")
  int deadLetterAll(@Mixin Target target, @Mixin Confirm confirm) {
    var act = "make all messages of session " + target.session + " dead letters";
    if (!confirm.ask(act)) {
      return Exit.FAILED;
    }
    return target.act("deadLetterAll", "%2$d messages of %1$s are dead letters now.");
  }
}
