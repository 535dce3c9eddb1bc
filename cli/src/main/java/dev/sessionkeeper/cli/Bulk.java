package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Acts on many sessions, dead letters or events: counts first, then works in the background. */
@Command(
    name = "bulk",
    description =
        "Act on many sessions, dead letters or events: count first, then let the server work in the background.",
    synopsisSubcommandLabel = "COMMAND")
final class Bulk {
  private static final Table TABLE =
      Table.of(
          "id",
          "act",
          "queue",
          "state",
          "done",
          "total",
          "changed",
          "createdAt",
          "actor",
          "reason");

  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  /** The operator's reason, and the server. */
  static final class Run {
    @Mixin Remote remote = new Remote();

    @Option(
        names = {"-r", "--reason"},
        description = "Why; without a reason the command only counts")
    @Nullable String reason;

    @Option(names = "--wait", description = "Wait until the run has ended, and show its progress")
    boolean wait;

    int act(String path, String act, Map<String, String> filter) {
      var wish = JsonNodeFactory.instance.objectNode().put("act", act);
      var wanted = wish.putObject("filter");
      filter.forEach(wanted::put);
      try (var client = remote.open()) {
        var counted = client.post(path, wish.deepCopy().put("dryRun", true));
        if (reason == null || counted.path("count").asLong() == 0) {
          remote.tell(counted, counted(act, counted));
          return Exit.OK;
        }
        return begin(client, path, wish, counted);
      }
    }

    private int begin(KeeperClient client, String path, ObjectNode wish, JsonNode counted) {
      wish.put("token", counted.path("token").asString()).put("reason", reason);
      var run = client.post(path, wish);
      if (wait) {
        return await(client, run.path("id").asString());
      }
      remote.tell(
          run,
          "Begun with "
              + counted.path("count").asString()
              + "; watch it with keeper bulk show "
              + run.path("id").asString());
      return Exit.OK;
    }

    /**
     * Shows the progress of the run until it has ended. Returns a failure code if the run failed or
     * was stopped.
     */
    private int await(KeeperClient client, String id) {
      var terminal = Terminal.standard();
      var run = client.get("/bulk/" + id, Map.of());
      while (run.path("state").asString().equals("running")) {
        if (terminal.isInteractive() && remote.format == Remote.Format.text) {
          terminal.draw(progress(run), false);
        }
        LockSupport.parkNanos(LOOK_EVERY.toNanos());
        run = client.get("/bulk/" + id, Map.of());
      }
      remote.tell(run, progress(run));
      return run.path("state").asString().equals("finished") ? Exit.OK : Exit.FAILED;
    }

    private static String progress(JsonNode run) {
      var did = run.path("act").asString().equals("replayEvents") ? " sent." : " changed.";
      return "The run is "
          + run.path("state").asString()
          + ": "
          + run.path("done").asString()
          + " of "
          + run.path("total").asString()
          + " looked at, "
          + run.path("changed").asString()
          + did
          + (run.has("lastError") ? "\n" + run.path("lastError").asString() : "");
    }

    private static String effect(String act, long number, boolean isMore) {
      var count = number + (isMore ? " or more " : " ");
      var sessions = count + (number == 1 ? "session" : "sessions");
      var letters = count + (number == 1 ? "dead letter" : "dead letters");
      return switch (act) {
        case "replay" -> "put back " + letters;
        case "discard" -> "forget " + letters;
        case "replayEvents" -> "send " + count + (number == 1 ? "message" : "messages") + " again";
        case "deadLetterAll" -> "set aside all messages of " + sessions;
        default -> act + " " + sessions;
      };
    }

    private static String counted(String act, JsonNode counted) {
      var text =
          new StringBuilder("Would ")
              .append(
                  effect(
                      act,
                      counted.path("count").asLong(),
                      !counted.path("countIsExact").asBoolean(true)))
              .append("; add --reason to do it");
      counted.path("samples").forEach(sample -> text.append("\n  ").append(sample.asString()));
      return text.toString();
    }
  }

  /** The chosen sessions or dead letters of one queue. */
  static final class Target {
    @Mixin Run run = new Run();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    int act(String act, Map<String, String> filter) {
      return run.act("/queues/" + KeeperClient.encoded(queue) + "/bulk", act, filter);
    }
  }

  /** Selects sessions. */
  static final class Sessions {
    @Mixin Target target = new Target();

    @Option(
        names = "--status",
        description = "attention (waiting, parked or paused; the default) or one status")
    @Nullable String status;

    @Option(names = "--prefix", description = "Only sessions whose id begins with this text")
    @Nullable String prefix;

    int act(String act) {
      return target.act(act, Remote.query("status", status, "prefix", prefix));
    }
  }

  /** Selects dead letters. */
  static final class Letters {
    @Mixin Target target = new Target();

    @Option(
        names = {"-s", "--session"},
        description = "Only dead letters of this session")
    @Nullable String session;

    @Option(
        names = "--cause",
        description =
            "Only dead letters of this cause: a fingerprint that dead-letters causes prints")
    @Nullable String cause;

    @Option(
        names = "--error",
        description = "Only dead letters whose reason or last error contains this text")
    @Nullable String error;

    int act(String act) {
      return target.act(
          act, Remote.query("sessionId", session, "reason", error, "fingerprint", cause));
    }
  }

  /** Selects events. */
  static final class Events {
    @Mixin Run run = new Run();
    @Mixin dev.sessionkeeper.cli.Events.Filter filter = new dev.sessionkeeper.cli.Events.Filter();

    @Option(names = "--event", description = "This event")
    @Nullable String event;

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec = CommandSpec.create();

    int act() {
      var wanted = new LinkedHashMap<>(filter.query());
      wanted.putAll(Remote.query("eventId", event));
      if (wanted.isEmpty()) {
        throw new ParameterException(
            spec.commandLine(), "Say which: --bot NAME, --repository NAME, --from TIME, …");
      }
      return run.act("/bulk", "replayEvents", wanted);
    }
  }

  @Command(name = "replay-events", description = "Send GitHub events to their bots again.")
  int replayEvents(@Mixin Events events) {
    return events.act();
  }

  @Command(description = "Resume the selected sessions.")
  int resume(@Mixin Sessions sessions) {
    return sessions.act("resume");
  }

  @Command(description = "Pause the selected sessions.")
  int pause(@Mixin Sessions sessions) {
    return sessions.act("pause");
  }

  @Command(description = "Park the selected sessions.")
  int park(@Mixin Sessions sessions) {
    return sessions.act("park");
  }

  @Command(description = "Take the selected sessions from their owners.")
  int release(@Mixin Sessions sessions) {
    return sessions.act("release");
  }

  @Command(
      name = "dead-letter-all",
      description = "Make all messages of the selected sessions dead letters.")
  int deadLetterAll(@Mixin Sessions sessions) {
    return sessions.act("deadLetterAll");
  }

  @Command(description = "Replay the selected dead letters.")
  int replay(@Mixin Letters letters) {
    return letters.act("replay");
  }

  @Command(description = "Delete the selected dead letters for good.")
  int discard(@Mixin Letters letters) {
    return letters.act("discard");
  }

  @Command(description = "List the newest runs.")
  int list(@Mixin Remote remote) {
    try (var client = remote.open()) {
      remote.show(client.get("/bulk", Map.of()), "runs", TABLE, "No runs.");
      return Exit.OK;
    }
  }

  @Command(description = "Show one run.")
  int show(@Mixin Remote remote, @Parameters(paramLabel = "ID") String id) {
    try (var client = remote.open()) {
      var run = client.get("/bulk/" + KeeperClient.encoded(id), Map.of());
      remote.tell(run, details(run));
      return Exit.OK;
    }
  }

  private static String details(JsonNode run) {
    var lines = new StringJoiner("\n");
    lines.add(Run.progress(run));
    var filter = run.path("filter");
    lines.add(
        run.path("act").asString()
            + " on "
            + run.path("queue").asString("the queues of several bots")
            + (filter.isEmpty() ? ", all" : ", filter " + filter));
    lines.add("By " + run.path("actor").asString() + ": " + run.path("reason").asString());
    lines.add(
        "Begun "
            + run.path("createdAt").asString()
            + (run.has("finishedAt") ? ", ended " + run.path("finishedAt").asString() : ""));
    return lines.toString();
  }

  @Command(description = "Stop a run; its changes so far remain.")
  int stop(@Mixin Remote remote, @Parameters(paramLabel = "ID") String id) {
    try (var client = remote.open()) {
      var path = "/bulk/" + KeeperClient.encoded(id) + "/stop";
      var run = client.post(path, JsonNodeFactory.instance.objectNode());
      remote.tell(run, "The run is " + run.path("state").asString());
      return Exit.OK;
    }
  }
}
