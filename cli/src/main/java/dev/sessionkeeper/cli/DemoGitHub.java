package dev.sessionkeeper.cli;

import dev.sessionkeeper.cli.demo.GitHubDemo;
import dev.sessionkeeper.cli.demo.TemporaryServer;
import dev.sessionkeeper.client.KeeperClient;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the way of GitHub's events to a bot. */
@Command(
    name = "github",
    description = {
      "A burst of signed GitHub events for many pull requests, pushed to an endpoint that fails: watch order hold.",
      "With --secret it goes to the running server, one of whose bots pushes to http://127.0.0.1:3000/hook;",
      "without, to a temporary server of its own."
    })
final class DemoGitHub implements Callable<Integer> {
  @Mixin Remote remote = new Remote();

  @Option(names = "--pulls", defaultValue = "60", description = "Default: ${DEFAULT-VALUE}")
  int pulls;

  @Option(
      names = "--events",
      defaultValue = "12",
      description = "For each pull request. Default: ${DEFAULT-VALUE}")
  int events;

  @Option(
      names = "--secret",
      defaultValue = "${env:GITHUB_WEBHOOK_SECRET}",
      description = "One of the running server's github.secrets. Default: $GITHUB_WEBHOOK_SECRET")
  @Nullable String secret;

  @Option(
      names = "--listen",
      defaultValue = "3000",
      description = "Where the running server's bot pushes to. Default: ${DEFAULT-VALUE}")
  int port;

  @Override
  public Integer call() throws Exception {
    var terminal = Terminal.standard();
    if (secret != null && !secret.isEmpty()) {
      try (var client = remote.open()) {
        return run(client, secret, port, terminal);
      }
    }
    // The server of the demo is in this process; its log would hide what the demo shows.
    System.setProperty("KEEPER_LOG_LEVEL", "ERROR");
    terminal.note(
        terminal.dim("No --secret: starting a temporary server. Its data goes when it ends."));
    try (var server = TemporaryServer.start();
        var client = KeeperClient.of(server.address())) {
      return run(client, server.secret(), server.endpointPort(), terminal);
    }
  }

  private int run(KeeperClient client, String signedWith, int listen, Terminal terminal)
      throws Exception {
    var plan = new GitHubDemo.Plan(pulls, events, Duration.ofMinutes(5));
    return new GitHubDemo(client, signedWith, plan, terminal::draw).run(listen)
        ? Exit.OK
        : Exit.FAILED;
  }
}
