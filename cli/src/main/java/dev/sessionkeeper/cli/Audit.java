package dev.sessionkeeper.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the audit log. */
@Command(
    name = "audit",
    description = "Show who did what, newest first.",
    subcommands = {ExportAudit.class, VerifyAudit.class})
final class Audit implements Callable<Integer> {
  private static final Table TABLE =
      Table.of("at", "actor", "source", "action", "target", "reason", "details", "count");

  @Mixin Remote remote = new Remote();
  @Mixin Paging paging = new Paging();

  @Option(names = "--actor", description = "Only acts of this credential")
  @Nullable String actor;

  @Option(names = "--action", description = "Only this act, such as session.park")
  @Nullable String action;

  @Option(names = "--target", description = "Only acts on this object, such as orders/cust-42")
  @Nullable String target;

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      var query =
          Remote.query(
              "actor",
              actor,
              "action",
              action,
              "target",
              target,
              "limit",
              paging.limitText(),
              "cursor",
              paging.cursor);
      remote.show(client.get("/audit", query), "entries", TABLE, "No entry.");
      return Exit.OK;
    }
  }
}
