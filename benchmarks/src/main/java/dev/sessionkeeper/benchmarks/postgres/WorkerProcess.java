package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A process of a measurement. It takes one {@link Turn} after the other, executes commands from its
 * input, and reports each result.
 */
final class WorkerProcess {
  private final DatabaseAddress server = DatabaseAddress.ofEnvironment();
  private Turn turn = Turn.none();

  private WorkerProcess() {}

  public static void main(String[] args) throws Exception {
    var worker = new WorkerProcess();
    var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (var line = commands.readLine(); line != null; line = commands.readLine()) {
      var words = line.split(" ", -1);
      worker.obey(words);
    }
    System.exit(0);
  }

  private void obey(String... words) throws Exception {
    switch (words[0]) {
      case "open" -> {
        System.gc();
        turn = Turn.open(server, Turn.Wish.parse(words));
      }
      case "consume" -> turn.consume();
      case "produce" -> turn.produce();
      case "pace" -> turn.pace(Double.parseDouble(words[1]));
      case "fill" -> turn.fill(Integer.parseInt(words[1]));
      case "disturb" -> turn.disturb();
      case "stop" -> turn.stop();
      case "leave" -> turn.leave();
      case "close" -> turn.close();
      case "forget" -> turn.load().latencies.clear();
      case "latencies" -> {
        var seen = turn.load().latencies;
        say(
            String.format(
                Locale.ROOT,
                "latencies %s %s %s",
                seen.millis(0.5),
                seen.millis(0.99),
                seen.millis(0.999)));
        return;
      }
      case "look" -> {
        say(turn.look());
        return;
      }
      default -> throw new IllegalArgumentException("Unknown command " + words[0]);
    }
    say(words[0]);
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
