package dev.sessionkeeper.cli;

import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.JsonNodeFactory;

/** Reads dead letters and puts them back. */
@Command(
    name = "dead-letters",
    description = "List dead letters, and put them back in order.",
    subcommands = {DeadLetters.ListThem.class, DeadLetters.Replay.class})
final class DeadLetters {

  @Command(name = "list", description = "List dead letters, oldest first.")
  static final class ListThem implements Callable<Integer> {
    private static final Table TABLE =
        Table.of("id", "messageId", "sessionId", "sequence", "attempts", "reason", "deadAt");

    @Mixin Remote remote = new Remote();
    @Mixin Paging paging = new Paging();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Option(
        names = {"-s", "--session"},
        description = "Only those of this session")
    @Nullable String session;

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var page =
            client
                .queue(queue)
                .deadLetters(
                    Remote.query(
                        "sessionId",
                        session,
                        "limit",
                        paging.limitText(),
                        "cursor",
                        paging.cursor));
        remote.show(page, "deadLetters", TABLE, "No dead letters in " + queue + ".");
        return Exit.OK;
      }
    }
  }

  @Command(
      name = "replay",
      description =
          "Put dead letters back before newer messages of their session, in original order.")
  static final class Replay implements Callable<Integer> {
    @Mixin Remote remote = new Remote();
    @Spec CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Option(
        names = {"-s", "--session"},
        description = "Those of this session")
    @Nullable String session;

    @Option(names = "--id", description = "This message; may be given several times")
    List<String> ids = List.of();

    @Option(names = "--all", description = "All of the queue")
    boolean all;

    @Option(names = "--dry-run", description = "Only tell how many")
    boolean dryRun;

    @Override
    public Integer call() {
      if (session == null && ids.isEmpty() && !all) {
        throw new ParameterException(
            spec.commandLine(), "Say which: --session ID, --id MESSAGE or --all");
      }
      var body = JsonNodeFactory.instance.objectNode();
      if (session != null) {
        body.put("sessionId", session);
      }
      if (!ids.isEmpty()) {
        var array = body.putArray("messageIds");
        ids.forEach(array::add);
      }
      if (all) {
        body.put("all", true);
      }
      if (dryRun) {
        body.put("dryRun", true);
      }
      try (var client = remote.open()) {
        var answer = client.queue(queue).replay(body);
        remote.tell(
            answer,
            dryRun
                ? "Would put back " + answer.path("wouldReplay") + "."
                : "Put back " + answer.path("replayed") + ".");
        return Exit.OK;
      }
    }
  }
}
