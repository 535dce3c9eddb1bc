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
      description = "NAME=VALUE, may be given several times")
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
      for (var batch : batches()) {
        var body = JsonNodeFactory.instance.objectNode();
        var array = body.putArray("messages");
        batch.forEach(text -> array.add(message(text)));
        client
            .post("/queues/" + KeeperClient.encoded(queue) + "/messages", body)
            .path("messages")
            .forEach(all::add);
      }
      remote.tell(answer, "Sent " + all.size() + " to " + queue + ".");
      return Exit.OK;
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

  private List<List<String>> batches() {
    var texts = bodies.isEmpty() ? lines() : bodies;
    var batches = new ArrayList<List<String>>();
    for (int from = 0; from < texts.size(); from += BATCH) {
      batches.add(texts.subList(from, Math.min(from + BATCH, texts.size())));
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
