package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
import tools.jackson.databind.node.JsonNodeFactory;

/** Replaces the body of a dead letter, and replays it if asked. */
@Command(
    name = "repair",
    description = "Replace the body of a dead letter; the original stays in its history.")
final class RepairDeadLetter implements Callable<Integer> {
  @Mixin Remote remote = new Remote();
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "QUEUE")
  String queue = "";

  @Parameters(index = "1", paramLabel = "ID", description = "As dead-letters list prints it")
  String id = "";

  @Option(names = "--body", description = "The new body")
  @Nullable String body;

  @Option(names = "--file", description = "A file with the new body")
  @Nullable Path file;

  @Option(
      names = {"-r", "--reason"},
      required = true,
      description = "Why; kept for the next operator")
  String reason = "";

  @Option(names = "--replay", description = "Then replay the dead letter")
  boolean replay;

  @Override
  public Integer call() {
    var text = text();
    try (var client = remote.open()) {
      var path =
          "/queues/" + KeeperClient.encoded(queue) + "/dead-letters/" + KeeperClient.encoded(id);
      var wish = JsonNodeFactory.instance.objectNode();
      wish.put("body", text);
      wish.put("sha256", client.get(path + "/repairs", Map.of()).path("sha256").asString());
      wish.put("reason", reason);
      var letter = client.put(path + "/body", wish);
      if (!replay) {
        remote.tell(letter, "Repaired " + id + "; put it back with dead-letters replay.");
        return Exit.OK;
      }
      var which = JsonNodeFactory.instance.objectNode();
      which.putArray("messageIds").add(letter.path("messageId").asString());
      var done = client.withReason(reason).queue(queue).replay(which);
      remote.tell(done, "Repaired " + id + " and put it back into its session.");
      return Exit.OK;
    }
  }

  private String text() {
    var inline = body;
    var path = file;
    if ((inline == null) == (path == null)) {
      throw new ParameterException(
          spec.commandLine(), "Name the new body: --body TEXT or --file FILE");
    }
    if (inline != null) {
      return inline;
    }
    try {
      return Files.readString(java.util.Objects.requireNonNull(path));
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "The file " + path + " cannot be read as text", e);
    }
  }
}
