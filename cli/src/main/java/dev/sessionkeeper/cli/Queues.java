package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.ProblemException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Lists, creates, shows, purges and deletes queues. */
@Command(
    name = "queues",
    description = {
      "List queues, or create, show, purge or delete one.",
      "If a queue is unordered, the columns of sessions count messages."
    },
    subcommands = {Queues.Create.class, Queues.Show.class, Queues.Purge.class, Queues.Delete.class})
final class Queues implements Callable<Integer> {
  static final Table TABLE =
      Table.of(
          "name", "mode", "depth", "readySessions", "heldSessions", "deadLetters", "oldestAge");

  @Mixin Remote remote = new Remote();
  @Mixin Paging paging = new Paging();
  @Mixin Watch watch = new Watch();

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      return watch.show(
          remote,
          () ->
              client.get(
                  "/queues", Remote.query("limit", paging.limitText(), "cursor", paging.cursor)),
          "queues",
          TABLE,
          "No queues yet. Create one: keeper queues create orders");
    }
  }

  @Command(name = "show", description = "Show one queue with its settings.")
  static final class Show implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var found = client.queue(queue).describe();
        remote.tell(found, TABLE.render(List.of(found)) + "\n\n" + QueueSettingsText.lines(found));
        return Exit.OK;
      }
    }
  }

  @Command(
      name = "purge",
      description =
          "Delete all messages of a queue. Dead letters, session state and settings stay.")
  static final class Purge implements Callable<Integer> {
    @Mixin Remote remote = new Remote();
    @Mixin Confirm confirm = new Confirm();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var found = client.queue(queue).describe();
        if (!confirm.ask("delete " + Queues.contents(found, "depth") + " of " + queue)) {
          return Exit.FAILED;
        }
        var answer = client.queue(queue).purge();
        remote.tell(
            answer, "Purged " + queue + ": " + answer.path("purged") + " messages deleted.");
        return Exit.OK;
      }
    }
  }

  @Command(
      name = "delete",
      description = "Delete a queue with its messages, dead letters and session state.")
  static final class Delete implements Callable<Integer> {
    @Mixin Remote remote = new Remote();
    @Mixin Confirm confirm = new Confirm();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var found = client.queue(queue).describe();
        var act =
            "delete queue "
                + queue
                + " with "
                + contents(found, "depth")
                + " and "
                + contents(found, "deadLetters").replace("messages", "dead letters");
        if (!confirm.ask(act)) {
          return Exit.FAILED;
        }
        client.queue(queue).delete();
        var answer = JsonNodeFactory.instance.objectNode().put("queue", queue).put("deleted", true);
        remote.tell(answer, "Deleted " + queue + ".");
        return Exit.OK;
      }
    }
  }

  /** Returns the number of messages, if the provider counts them. */
  private static String contents(JsonNode queue, String member) {
    return queue.path(member).isNumber()
        ? queue.path(member).asString() + " messages"
        : "all messages";
  }

  @Command(
      name = "create",
      modelTransformer = QueueSettingOptions.class,
      description = {
        "Create a queue.",
        "If the queue exists, only the settings that you name change; its mode cannot change."
      })
  static final class Create implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Option(names = "--mode", description = "ORDERED or UNORDERED. Default: ORDERED")
    @Nullable String mode;

    @Spec CommandSpec command = CommandSpec.create();

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var before = existing(client);
        var after = client.put("/queues/" + KeeperClient.encoded(queue), wish(before.isEmpty()));
        remote.tell(after, before.map(old -> again(old, after)).orElse("Created " + queue + "."));
        return Exit.OK;
      }
    }

    private Optional<JsonNode> existing(KeeperClient client) {
      try {
        return Optional.of(client.queue(queue).describe());
      } catch (ProblemException e) {
        if (e.is("unknown-queue")) {
          return Optional.empty();
        }
        throw e;
      }
    }

    private ObjectNode wish(boolean isNew) {
      var body = JsonNodeFactory.instance.objectNode();
      if (mode != null || isNew) {
        body.put("mode", mode == null ? "ORDERED" : mode);
      }
      QueueSettingOptions.addGiven(command, body);
      return body;
    }

    private String again(JsonNode before, JsonNode after) {
      var changes = QueueSettingsText.changes(before, after);
      return changes.isEmpty()
          ? "Queue " + queue + " exists; nothing was changed."
          : "Queue " + queue + " exists; changed:\n" + changes;
    }
  }
}
