package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
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

/** Searches and replays GitHub events. */
@Command(
    name = "events",
    description = "Search GitHub events, see which bots received them and why, and replay them.",
    subcommands = {Events.ListThem.class, Events.Show.class, Events.Replay.class})
final class Events {

  /** Selects events. */
  static final class Filter {
    @Option(names = "--bot", description = "Only events that were routed to this bot")
    @Nullable String bot;

    @Option(names = "--repository", description = "owner/repo")
    @Nullable String repository;

    @Option(
        names = {"-s", "--session"},
        description = "Only events of this session")
    @Nullable String session;

    @Option(names = "--type", description = "Only events of this type, such as pull_request")
    @Nullable String type;

    @Option(names = "--from", description = "Only events received at or after this RFC 3339 time")
    @Nullable String from;

    @Option(names = "--to", description = "Only events received before this RFC 3339 time")
    @Nullable String to;

    Map<String, String> query() {
      return Remote.query(
          "bot",
          bot,
          "repository",
          repository,
          "sessionId",
          session,
          "type",
          type,
          "from",
          from,
          "to",
          to);
    }
  }

  @Command(name = "list", description = "List events, newest first.")
  static final class ListThem implements Callable<Integer> {
    private static final Table TABLE =
        Table.of("eventId", "type", "action", "repository", "sessionId", "receivedAt", "routedTo");

    @Mixin Remote remote = new Remote();
    @Mixin Paging paging = new Paging();
    @Mixin Filter filter = new Filter();

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var query = filter.query();
        query.putAll(Remote.query("limit", paging.limitText(), "cursor", paging.cursor));
        remote.show(
            client.get("/events", query),
            "events",
            TABLE,
            "No such events. Send one: keeper send-github --event issues.opened --file p.json");
        return Exit.OK;
      }
    }
  }

  @Command(
      name = "show",
      description = "Show one event: which bots matched, and why the others did not.")
  static final class Show implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "EVENT")
    String event = "";

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var found = client.get("/events/" + KeeperClient.encoded(event), Map.of());
        remote.tell(found, found.toPrettyString());
        return Exit.OK;
      }
    }
  }

  @Command(name = "replay", description = "Send stored events to their bots again.")
  static final class Replay implements Callable<Integer> {
    @Mixin Remote remote = new Remote();
    @Mixin Filter filter = new Filter();
    @Spec CommandSpec spec = CommandSpec.create();

    @Option(names = "--event", description = "This event")
    @Nullable String event;

    @Option(
        names = "--dead-letters",
        description = "Only replay messages that are dead letters now; send no other message again")
    boolean deadLetters;

    @Option(names = "--dry-run", description = "Only count; change nothing")
    boolean dryRun;

    @Option(
        names = {"-r", "--reason"},
        defaultValue = "",
        description = "Why; kept in the audit log")
    String reason = "";

    @Override
    public Integer call() {
      var body = JsonNodeFactory.instance.objectNode();
      filter.query().forEach(body::put);
      if (event != null) {
        body.put("eventId", event);
      }
      if (body.isEmpty()) {
        throw new ParameterException(
            spec.commandLine(), "Say which: --event ID, --session ID, --bot NAME, --from TIME, …");
      }
      if (deadLetters) {
        body.put("deadLetters", true);
      }
      body.put("dryRun", dryRun);
      body.put("reason", reason);
      try (var client = remote.open()) {
        var answer = client.post("/events/replay", body);
        remote.tell(answer, sentence(answer));
        return Exit.OK;
      }
    }

    private static String sentence(JsonNode answer) {
      if (answer.path("dryRun").asBoolean(false)) {
        return count(answer.path("wouldReplay").asInt(), "message") + " would be sent; nothing was";
      }
      int messages = answer.path("replayed").asInt();
      if (!answer.has("events")) {
        return "Put back " + count(messages, "dead letter");
      }
      return (answer.path("repeated").asBoolean(false)
              ? "An earlier request did the same: "
              : "Done: ")
          + "sent "
          + count(messages, "message")
          + " of "
          + count(answer.path("events").asInt(), "event")
          + ", as replay "
          + answer.path("replayId").asString();
    }

    private static String count(int number, String of) {
      return number + " " + of + (number == 1 ? "" : "s");
    }
  }
}
