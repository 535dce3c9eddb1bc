package dev.sessionkeeper.cli;

import static java.util.stream.Collectors.joining;

import dev.sessionkeeper.github.GitHubSignature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Posts a signed payload as GitHub does. */
@Command(
    name = "send-github",
    description = "Post a payload to the webhook endpoint as GitHub would, signed with the secret.")
final class SendGitHub implements Callable<Integer> {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Mixin Remote remote = new Remote();

  @Option(
      names = "--event",
      required = true,
      description =
          "Type, or type.action such as pull_request.opened; the action must be that of the payload")
  String event = "";

  @Option(names = "--file", required = true, description = "The payload")
  Path file = Path.of("");

  @Option(
      names = "--secret",
      defaultValue = "${env:GITHUB_WEBHOOK_SECRET}",
      description = "The secret that signs the payload. Default: $GITHUB_WEBHOOK_SECRET")
  @Nullable String secret;

  @Option(names = "--delivery", description = "The delivery id. Default: a new one")
  @Nullable String delivery;

  @Spec CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    var body = payload();
    if (secret == null || secret.isEmpty()) {
      throw wrong("Give the secret of the server: --secret, or $GITHUB_WEBHOOK_SECRET");
    }
    var headers = new LinkedHashMap<String, String>();
    headers.put("Content-Type", "application/json");
    headers.put("X-GitHub-Event", type());
    headers.put("X-GitHub-Delivery", delivery == null ? UUID.randomUUID().toString() : delivery);
    headers.put("X-Hub-Signature-256", GitHubSignature.sign(secret, body));
    try (var client = remote.open()) {
      var answer = client.postBytes("/webhooks/github", body, headers);
      remote.tell(answer, sentence(answer));
      return Exit.OK;
    }
  }

  private String type() {
    return event.contains(".") ? event.substring(0, event.indexOf('.')) : event;
  }

  /** Returns the bytes of the file, even if they are no JSON: the server reports what is wrong. */
  private byte[] payload() {
    byte[] body;
    try {
      body = Files.readAllBytes(file);
    } catch (IOException e) {
      throw wrong("The file " + file + " cannot be read");
    }
    var wanted = event.substring(type().length()).replaceFirst("^\\.", "");
    var action = actionOf(body);
    if (!wanted.isEmpty() && action.isPresent() && !action.get().equals(wanted)) {
      throw wrong(
          "The action of the payload is "
              + action.get()
              + ", not "
              + wanted
              + "; GitHub tells the action there and nowhere else");
    }
    return body;
  }

  private static Optional<String> actionOf(byte[] body) {
    try {
      return Optional.of(JSON.readTree(body).path("action").asString("none"));
    } catch (JacksonException e) {
      return Optional.empty();
    }
  }

  private static String sentence(JsonNode answer) {
    var id = answer.path("eventId").asString();
    var bots = answer.path("routedTo").valueStream().map(JsonNode::asString).collect(joining(", "));
    if (answer.path("duplicate").asBoolean(false)) {
      int replayed = answer.path("revived").asInt(0);
      return "Known already as "
          + id
          + ": nothing was routed again, "
          + replayed
          + (replayed == 1 ? " dead letter was replayed" : " dead letters were replayed");
    }
    return bots.isEmpty()
        ? "Stored as " + id + ", for no bot. Why: keeper events show " + id
        : "Stored as " + id + ", routed to " + bots;
  }

  private ParameterException wrong(String why) {
    return new ParameterException(spec.commandLine(), why);
  }
}
