package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
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

/** Lists, shows, replays and discards dead letters. */
@Command(
    name = "dead-letters",
    description = "List and show dead letters; repair, replay or discard them.",
    subcommands = {
      DeadLetters.ListThem.class,
      DeadLetters.Show.class,
      DeadLetters.Causes.class,
      RepairDeadLetter.class,
      DeadLetters.Replay.class,
      DeadLetters.Discard.class
    })
final class DeadLetters {

  @Command(
      name = "list",
      description = "List dead letters, oldest first unless --order says newest.")
  static final class ListThem implements Callable<Integer> {
    private static final Table TABLE =
        Table.of("id", "messageId", "sessionId", "attempts", "deadAt", "reason", "lastError");

    @Mixin Remote remote = new Remote();
    @Mixin Paging paging = new Paging();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Option(
        names = {"-s", "--session"},
        description = "Only those of this session")
    @Nullable String session;

    @Option(names = "--order", description = "oldest or newest first. Default: oldest")
    @Nullable Order order;

    /** The direction of the list. */
    enum Order {
      oldest,
      newest
    }

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var query =
            Remote.query(
                "sessionId", session, "limit", paging.limitText(), "cursor", paging.cursor);
        var page = order == null ? client.queue(queue).deadLetters(query) : sorted(client, query);
        remote.show(page, "deadLetters", TABLE, "No dead letters in " + queue + ".");
        return Exit.OK;
      }
    }

    /** Asks the search, which knows both directions; queues outside PostgreSQL have none. */
    private JsonNode sorted(KeeperClient client, Map<String, String> query) {
      var sorted = new LinkedHashMap<>(query);
      sorted.put("order", String.valueOf(order));
      return client.get("/queues/" + KeeperClient.encoded(queue) + "/dead-letters/search", sorted);
    }
  }

  /** The operator's reason. */
  static final class Why {
    @Option(
        names = {"-r", "--reason"},
        description = "Why; kept in the audit log")
    @Nullable String reason;

    KeeperClient open(Remote remote) {
      var client = remote.open();
      return reason == null ? client : client.withReason(reason);
    }
  }

  @Command(name = "causes", description = "Count the newest 5,000 dead letters by cause.")
  static final class Causes implements Callable<Integer> {
    private static final Table TABLE =
        Table.of("letters", "sessions", "first", "last", "cause", "fingerprint");

    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var path = "/queues/" + KeeperClient.encoded(queue) + "/dead-letters/groups";
        remote.show(
            client.get(path, Map.of()), "groups", TABLE, "No dead letters in " + queue + ".");
        return Exit.OK;
      }
    }
  }

  @Command(name = "show", description = "Show one dead letter with its body and last error.")
  static final class Show implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Parameters(index = "1", paramLabel = "ID", description = "As dead-letters list prints it")
    String id = "";

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var letter = client.queue(queue).deadLetter(id);
        remote.tell(letter, DeadLetterText.of(letter));
        return Exit.OK;
      }
    }
  }

  @Command(name = "discard", description = "Delete dead letters. They cannot be replayed any more.")
  static final class Discard implements Callable<Integer> {
    @Mixin Remote remote = new Remote();
    @Mixin Confirm confirm = new Confirm();
    @Spec CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Parameters(
        index = "1..*",
        arity = "0..*",
        paramLabel = "ID",
        description = "As dead-letters list prints them")
    List<String> ids = List.of();

    @Option(names = "--all", description = "All dead letters of the queue")
    boolean all;

    @Mixin Why why = new Why();

    @Override
    public Integer call() {
      if (all != ids.isEmpty()) {
        throw new ParameterException(spec.commandLine(), "Name the IDs, or --all");
      }
      var which = all ? "all dead letters" : ids.size() + " dead letters";
      if (!confirm.ask("delete " + which + " of " + queue)) {
        return Exit.FAILED;
      }
      try (var client = why.open(remote)) {
        var answer = JsonNodeFactory.instance.objectNode();
        if (all) {
          answer.set("discarded", client.queue(queue).purgeDeadLetters().path("purged"));
        } else {
          ids.forEach(client.queue(queue)::discard);
          answer.put("discarded", ids.size());
        }
        remote.tell(answer, "Discarded " + answer.path("discarded") + ".");
        return Exit.OK;
      }
    }
  }

  @Command(
      name = "replay",
      description =
          "Replay dead letters in their original order, before newer messages of their session.")
  static final class Replay implements Callable<Integer> {
    @Mixin Remote remote = new Remote();
    @Spec CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Option(
        names = {"-s", "--session"},
        description = "The dead letters of this session")
    @Nullable String session;

    @Option(
        names = "--id",
        description = "The dead letter of this message; repeat the option for more")
    List<String> ids = List.of();

    @Option(names = "--all", description = "All dead letters of the queue")
    boolean all;

    @Option(names = "--dry-run", description = "Only count; change nothing")
    boolean dryRun;

    @Mixin Why why = new Why();

    @Override
    public Integer call() {
      if (session == null && ids.isEmpty() && !all) {
        throw new ParameterException(
            spec.commandLine(), "Name them: --session ID, --id MESSAGE or --all");
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
      try (var client = why.open(remote)) {
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
