package dev.sessionkeeper.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;

/** Replaces a user's id by a random one. */
@Command(
    name = "erase-user",
    description =
        "Erase a user: end active sessions and replace the id in sessions, ledger and events.")
final class EraseUserCommand implements Callable<Integer> {
  @Mixin Remote remote = new Remote();
  @Mixin Confirm confirm = new Confirm();

  @Parameters(index = "0", paramLabel = "USER", description = "The user's object id")
  String user = "";

  @Option(
      names = {"-r", "--reason"},
      defaultValue = "",
      description = "Why; kept in the audit log")
  String reason = "";

  @Override
  public Integer call() {
    if (!confirm.ask("end all sessions of user " + user + " and erase the id for good")) {
      return Exit.FAILED;
    }
    try (var client = remote.open()) {
      var wish =
          JsonNodeFactory.instance.objectNode().put("userObjectId", user).put("reason", reason);
      var erased = client.post("/erasures", wish);
      remote.tell(
          erased,
          "Erased: %s sessions, %s ledger rows, %s events. The user is %s from now on."
              .formatted(
                  erased.path("sessions"),
                  erased.path("ledgerRows"),
                  erased.path("events"),
                  erased.path("pseudonym").asString()));
      return Exit.OK;
    }
  }
}
