package dev.sessionkeeper.cli;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.registry.receiver.UsageReceiver;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Starts the reference receiver of usage on this machine. */
@Command(
    name = "receiver",
    description = {
      "Receive usage as a billing system should: each record is applied once, whatever is repeated.",
      "It keeps everything in memory, for tests and demonstrations. GET on its address shows the sums."
    })
final class Receiver implements Callable<Integer> {
  @Option(
      names = "--port",
      defaultValue = "8090",
      description = "0 for any free one. Default: ${DEFAULT-VALUE}")
  int port = 8090;

  @Option(
      names = "--secret",
      defaultValue = "${env:USAGE_SECRET}",
      description =
          "The secret of usage.secret; posts without its signature are refused. Default: $USAGE_SECRET")
  @Nullable String secret;

  @Option(names = "--seconds", hidden = true, description = "End after so many seconds")
  long seconds = Long.MAX_VALUE;

  @Override
  public Integer call() throws InterruptedException {
    var terminal = Terminal.standard();
    var signature =
        Optional.ofNullable(secret).filter(text -> !text.isBlank()).map(WebhookSignature::of);
    try (var receiver = UsageReceiver.start(port, signature)) {
      terminal.print("Receiving usage at " + receiver.url() + ", until Ctrl-C.");
      terminal.note(
          "In keeper.yaml: usage: { endpoint: \"%s\", allow_private_targets: true }"
              .formatted(receiver.url()));
      var unused = new CountDownLatch(1).await(seconds, TimeUnit.SECONDS);
      receiver.complaints().forEach(terminal::print);
      return Exit.OK;
    } catch (IOException e) {
      throw new KeeperException.Misconfigured(
          "The receiver cannot listen on port "
              + port
              + ": "
              + e.getMessage()
              + ". Choose another --port",
          e);
    }
  }
}
