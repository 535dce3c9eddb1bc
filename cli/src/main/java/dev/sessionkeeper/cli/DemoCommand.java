package dev.sessionkeeper.cli;

import dev.sessionkeeper.cli.demo.Demo;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.JsonNodeFactory;

/** Shows on a running server that order holds. */
@Command(
    name = "demo",
    description =
        "Show that order holds: many sessions, consumers that fail, and one that is killed. Needs a running server.",
    subcommands = DemoGitHub.class)
final class DemoCommand implements Callable<Integer> {
  @Mixin Remote remote = new Remote();

  @Option(
      names = "--sessions",
      defaultValue = "60",
      description = "How many sessions. Default: ${DEFAULT-VALUE}")
  int sessions;

  @Option(
      names = "--messages",
      defaultValue = "25",
      description = "Messages of each session. Default: ${DEFAULT-VALUE}")
  int messages;

  @Option(
      names = "--consumers",
      defaultValue = "6",
      description = "How many consumers. Default: ${DEFAULT-VALUE}")
  int consumers;

  @Option(names = "--consume", hidden = true)
  @Nullable String consume;

  @Option(names = "--as", hidden = true, defaultValue = "consumer")
  String name = "consumer";

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      if (consume != null) {
        Demo.consume(client, consume, name);
        return Exit.OK;
      }
      var terminal = Terminal.standard();
      var plan = new Demo.Plan(sessions, messages, consumers, Duration.ofMinutes(5));
      var result = new Demo(client, remote.environment(), plan, terminal::draw).run();
      if (remote.format == Remote.Format.json) {
        terminal.print(json(result));
      }
      return result.isGood() ? Exit.OK : Exit.FAILED;
    }
  }

  private static String json(Demo.Result result) {
    var node = JsonNodeFactory.instance.objectNode();
    node.put("orderHeld", result.isGood());
    node.put("queue", result.queue());
    node.put("expected", result.expected());
    node.put("completed", result.completed());
    node.put("failedAttempts", result.failedAttempts());
    node.put("repeated", result.repeated());
    var violations = node.putArray("violations");
    result.violations().forEach(violations::add);
    return node.toPrettyString();
  }
}
