package dev.sessionkeeper.cli;

import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.simulator.Simulation;
import dev.sessionkeeper.time.TimeSource;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.JsonNodeFactory;

/** Runs simulations: the same seed is the same run, so what one of them finds can be looked at. */
@Command(
    name = "simulate",
    description = {
      "Let owners crash, stall and come back too late, on one thread and virtual time, and check"
          + " order, ownership and loss.",
      "Runs the engine that keeps everything in memory; needs no server. The same seed is the same"
          + " run."
    })
final class Simulate implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // Set by picocli.
  CommandSpec spec;

  @Option(names = "--seed", defaultValue = "1", description = "The first seed. Default: 1")
  long seed;

  @Option(names = "--runs", defaultValue = "1", description = "Seeds to run. Default: 1")
  int runs;

  @Option(names = "--owners", defaultValue = "5", description = "Default: ${DEFAULT-VALUE}")
  int owners;

  @Option(names = "--sessions", defaultValue = "10", description = "Default: ${DEFAULT-VALUE}")
  int sessions;

  @Option(names = "--messages", defaultValue = "1000", description = "Default: ${DEFAULT-VALUE}")
  int messages;

  @Option(
      names = {"-o", "--output"},
      defaultValue = "text",
      description = "text or json. Default: text")
  Remote.Format format = Remote.Format.text;

  @Override
  public Integer call() {
    if (runs < 1) {
      throw new ParameterException(spec.commandLine(), "--runs must be at least 1, was " + runs);
    }
    var terminal = Terminal.standard();
    var progress = new ProgressBar(terminal, TimeSource.system(), "simulating", runs);
    int failed = 0;
    for (long next = seed; next < seed + runs; next++) {
      var outcome = Simulation.run(plan(next), MemoryQueueProvider::create);
      if (!outcome.violations().isEmpty()) {
        failed++;
        outcome.violations().forEach(violation -> terminal.note("  " + violation));
        terminal.error(
            "Seed " + next + " breaks an invariant; again: keeper simulate" + shown(next));
      }
      if (runs == 1) {
        terminal.print(format == Remote.Format.json ? json(next, outcome) : line(next, outcome));
      }
      progress.at(next - seed + 1);
    }
    if (runs > 1) {
      terminal.print(format == Remote.Format.json ? json(failed) : line(failed));
    }
    return failed == 0 ? Exit.OK : Exit.FAILED;
  }

  private Simulation.Plan plan(long ofSeed) {
    try {
      return new Simulation.Plan(ofSeed, owners, sessions, messages);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }

  private String shown(long ofSeed) {
    return String.format(
        Locale.ROOT,
        " --seed %d --owners %d --sessions %d --messages %d",
        ofSeed,
        owners,
        sessions,
        messages);
  }

  private String line(int failed) {
    return String.format(
        Locale.ROOT, "%,d seeds from %d: %d broke an invariant.", runs, seed, failed);
  }

  private String json(int failed) {
    var node = JsonNodeFactory.instance.objectNode();
    node.put("seed", seed);
    node.put("runs", runs);
    node.put("failed", failed);
    return node.toPrettyString();
  }

  private static String json(long ofSeed, Simulation.Outcome outcome) {
    var node = JsonNodeFactory.instance.objectNode();
    node.put("seed", ofSeed);
    node.put("steps", outcome.steps());
    node.put("handled", outcome.handled());
    node.put("leasesLost", outcome.leasesLost());
    node.put("deadLetters", outcome.deadLetters());
    node.put("simulated", outcome.simulated().toString());
    node.put("fingerprint", outcome.fingerprint());
    var violations = node.putArray("violations");
    outcome.violations().forEach(violation -> violations.add(violation.toString()));
    return node.toPrettyString();
  }

  private static String line(long ofSeed, Simulation.Outcome outcome) {
    return String.format(
        Locale.ROOT,
        "Seed %d: %,d steps, %,d messages handled, %,d leases lost, %,d dead letters, %.1f"
            + " simulated seconds; %d violations. Fingerprint %s.",
        ofSeed,
        outcome.steps(),
        outcome.handled(),
        outcome.leasesLost(),
        outcome.deadLetters(),
        outcome.simulated().toMillis() / 1000.0,
        outcome.violations().size(),
        outcome.fingerprint());
  }
}
