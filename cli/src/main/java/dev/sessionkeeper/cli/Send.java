package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Sends messages: from the command line, or one per line from standard input. */
@Command(
    name = "send",
    description = {
      "Send messages to a queue.",
      "A body that is JSON is sent as JSON, anything else as text. Without a body, each line of standard input is one message."
    })
final class Send implements Callable<Integer> {
  private static final int BATCH = 100;

  /** The server takes 16 MB in one request; characters outside of ASCII need more than a byte. */
  private static final int BATCH_CHARACTERS = 4_000_000;

  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Mixin Remote remote = new Remote();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "QUEUE")
  String queue = "";

  @Parameters(index = "1..*", arity = "0..*", paramLabel = "BODY")
  List<String> bodies = new ArrayList<>();

  @Option(
      names = {"-s", "--session"},
      description = "The session; needed for an ORDERED queue")
  @Nullable String session;

  @Option(names = "--id", description = "The message's id; for one body only")
  @Nullable String id;

  @Option(
      names = {"-p", "--property"},
      description = "A property as NAME=VALUE; repeat the option for more")
  Map<String, String> properties = Map.of();

  @Override
  public Integer call() {
    if (id != null && bodies.size() != 1) {
      throw new ParameterException(
          spec.commandLine(), "--id is for one message; there are " + bodies.size() + " bodies");
    }
    try (var client = remote.open()) {
      var answer = JsonNodeFactory.instance.objectNode();
      var all = answer.putArray("messages");
      for (var batch : batches(bodies.isEmpty() ? lines() : bodies)) {
        var body = JsonNodeFactory.instance.objectNode();
        var array = body.putArray("messages");
        batch.forEach(text -> array.add(message(text)));
        post(client, body, all);
      }
      remote.tell(answer, "Sent " + all.size() + " to " + queue + ".");
      return Exit.OK;
    }
  }

  /** Sends a batch. If it fails, says how many messages earlier batches have sent. */
  private void post(KeeperClient client, ObjectNode body, ArrayNode all) {
    try {
      client
          .post("/queues/" + KeeperClient.encoded(queue) + "/messages", body)
          .path("messages")
          .forEach(all::add);
    } catch (RuntimeException e) {
      if (!all.isEmpty()) {
        Terminal.standard().note("Sent " + all.size() + " to " + queue + " before this:");
      }
      throw e;
    }
  }

  private ObjectNode message(String text) {
    var message = JsonNodeFactory.instance.objectNode();
    if (session != null) {
      message.put("sessionId", session);
    }
    if (id != null) {
      message.put("messageId", id);
    }
    message.set("body", body(text));
    if (!properties.isEmpty()) {
      var all = message.putObject("properties");
      properties.forEach(all::put);
    }
    return message;
  }

  private static JsonNode body(String text) {
    try {
      return JSON.readTree(text);
    } catch (JacksonException e) {
      return JsonNodeFactory.instance.stringNode(text);
    }
  }

  static List<List<String>> batches(List<String> texts) {
    var batches = new ArrayList<List<String>>();
    int from = 0;
    long characters = 0;
    for (int i = 0; i < texts.size(); i++) {
      characters += texts.get(i).length();
      if (i > from && (i - from == BATCH || characters > BATCH_CHARACTERS)) {
        batches.add(texts.subList(from, i));
        from = i;
        characters = texts.get(i).length();
      }
    }
    if (from < texts.size()) {
      batches.add(texts.subList(from, texts.size()));
    }
    return batches;
  }

  private static List<String> lines() {
    if (Boolean.getBoolean("keeper.stdin")) {
      Terminal.standard().note("One message per line; end with Ctrl-D.");
    }
    try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      return in.lines().filter(line -> !line.isBlank()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
