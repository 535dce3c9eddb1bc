package dev.sessionkeeper.cli;

import java.util.ArrayList;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Makes a server read its configuration again. */
@Command(
    name = "reload",
    description = {
      "Let the server read its configuration again, as SIGHUP does.",
      "Names the keys that were applied and those that need a restart."
    })
final class ReloadCommand implements Callable<Integer> {
  @Mixin Remote remote = new Remote();

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      var answer = client.post("/admin/reload", JsonNodeFactory.instance.objectNode());
      var applied = joined(answer.path("applied"));
      var restart = joined(answer.path("needsRestart"));
      remote.tell(
          answer,
          (applied.isEmpty() ? "Nothing was applied." : "Applied: " + applied + ".")
              + (restart.isEmpty() ? "" : "\nNeeds a restart: " + restart + "."));
      answer
          .path("warnings")
          .forEach(warning -> Terminal.standard().note("Warning: " + warning.asString("")));
      return Exit.OK;
    }
  }

  private static String joined(JsonNode list) {
    var texts = new ArrayList<String>();
    list.forEach(text -> texts.add(text.asString("")));
    return String.join(", ", texts);
  }
}
