package dev.sessionkeeper.cli;

import dev.sessionkeeper.cli.demo.GitHubDemo;
import dev.sessionkeeper.cli.demo.TemporaryServer;
import dev.sessionkeeper.client.KeeperClient;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows the path of GitHub events to a bot, on a temporary server. */
@Command(
    name = "github",
    description = {
      "Show that order holds for GitHub events: many pull requests at once, pushed to an endpoint that sometimes fails.",
      "Starts a temporary server, bot and endpoint, and deletes them at the end. Uses no other server."
    })
final class DemoGitHub implements Callable<Integer> {
  @Option(
      names = "--pulls",
      defaultValue = "60",
      description = "How many pull requests. Default: ${DEFAULT-VALUE}")
  int pulls;

  @Option(
      names = "--events",
      defaultValue = "12",
      description = "Events of each pull request. Default: ${DEFAULT-VALUE}")
  int events;

  @Override
  public Integer call() throws Exception {
    var terminal = Terminal.standard();
    terminal.note(terminal.dim("Starting a temporary server. Its data goes when it ends."));
    try (var server = TemporaryServer.start();
        var client = KeeperClient.of(server.address())) {
      var plan = new GitHubDemo.Plan(pulls, events, Duration.ofMinutes(5));
      return new GitHubDemo(client, server.secret(), plan, terminal::draw)
              .run(server.endpointPort())
          ? Exit.OK
          : Exit.FAILED;
    }
  }
}
