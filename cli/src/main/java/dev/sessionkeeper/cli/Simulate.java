package dev.sessionkeeper.cli;

import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.simulator.SeededRun;
import dev.sessionkeeper.simulator.Simulation;
import dev.sessionkeeper.simulator.SimulationReport;
import dev.sessionkeeper.simulator.Subject;
import dev.sessionkeeper.time.TimeSource;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Runs simulations. The same seed gives the same run, so a failure can be repeated. */
@Command(
    name = "simulate",
    description = {
      "Let processes crash, freeze and lose answers, on virtual time, and check that order,"
          + " ownership and effects hold.",
      "Needs no server. The same seed is the same run, step by step. A run that breaks an invariant"
          + " is cut down to the fewest steps that still break it, and printed."
    })
final class Simulate implements Callable<Integer> {
  private static final String OWNERS = "owners";

  @Spec
  @SuppressWarnings("NullAway.Init") // Set by picocli.
  CommandSpec spec;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "WHAT",
      defaultValue = "nodes",
      description =
          "nodes: the session processor on a modelled store. cursors: cursors and the coalescing"
              + " writer. usage: a model of metering and delivery. owners: the memory provider."
              + " Default: nodes")
  String what = "nodes";

  @Option(names = "--seed", defaultValue = "1", description = "The first seed. Default: 1")
  long seed;

  @Option(names = "--runs", defaultValue = "1", description = "How many seeds to run. Default: 1")
  int runs;

  @Option(
      names = "--plant",
      paramLabel = "BUG",
      description = "Plant a known bug, which the run must find; --plant list shows all bugs")
  @Nullable String planted;

  @Option(
      names = "--skip",
      paramLabel = "STEPS",
      split = ",",
      description = "Leave out these steps of the plan, by their numbers")
  List<Integer> skipped = List.of();

  @Option(names = "--trace", description = "Print the events of the run, line by line")
  boolean trace;

  @Option(
      names = "--owners",
      defaultValue = "5",
      description = "With owners: how many owners. Default: 5")
  int owners;

  @Option(
      names = "--sessions",
      defaultValue = "10",
      description = "With owners: how many sessions. Default: 10")
  int sessions;

  @Option(
      names = "--messages",
      defaultValue = "1000",
      description = "With owners: how many messages. Default: 1000")
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
    if (System.getenv("KEEPER_LOG_LEVEL") == null) {
      // Simulated crashes must not fill the log of this process.
      System.setProperty("KEEPER_LOG_LEVEL", "OFF");
    }
    var terminal = Terminal.standard();
    return what.equals(OWNERS) ? runOwners(terminal) : runSubject(terminal, subject());
  }

  private Subject subject() {
    return Arrays.stream(Subject.values())
        .filter(subject -> subject.text().equals(what))
        .findFirst()
        .orElseThrow(
            () ->
                new ParameterException(
                    spec.commandLine(),
                    "There is nothing named "
                        + what
                        + " to simulate; choose "
                        + Arrays.stream(Subject.values())
                            .map(Subject::text)
                            .collect(Collectors.joining(", "))
                        + " or "
                        + OWNERS));
  }

  private int runSubject(Terminal terminal, Subject subject) {
    if ("list".equals(planted)) {
      subject.bugs().forEach(terminal::print);
      return Exit.OK;
    }
    var progress = new ProgressBar(terminal, TimeSource.system(), "simulating", runs);
    int failed = 0;
    for (long next = seed; next < seed + runs; next++) {
      var run = seeded(subject, next);
      var report = trace ? run.runWithTrace() : run.run();
      if (!report.violations().isEmpty()) {
        failed++;
        if (format == Remote.Format.text) {
          show(terminal, run, report);
        }
      }
      if (runs == 1) {
        if (format == Remote.Format.json) {
          terminal.print(json(run, report));
        } else {
          report.trace().forEach(terminal::print);
          terminal.print(line(run, report));
        }
      }
      progress.at(next - seed + 1);
    }
    if (runs > 1) {
      terminal.print(format == Remote.Format.json ? json(failed) : line(failed));
    }
    return failed == 0 ? Exit.OK : Exit.FAILED;
  }

  private SeededRun seeded(Subject subject, long ofSeed) {
    try {
      return new SeededRun(subject, ofSeed, Optional.ofNullable(planted), skipped);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), e.getMessage() + "; --plant list shows all", e);
    }
  }

  /** Prints the shortest plan that breaks the invariant, and the last steps of its run. */
  private static void show(Terminal terminal, SeededRun run, SimulationReport report) {
    var shortest = run.shrunk();
    var shown = shortest.runWithTrace();
    terminal.note("Seed " + run.seed() + " breaks " + report.violations().get(0));
    terminal.note("");
    terminal.note(
        "What must happen for it (" + shortest.skipped().size() + " other steps left out):");
    for (int i = 0; i < shown.plan().size(); i++) {
      if (!shortest.skipped().contains(i)) {
        terminal.note("  " + shown.plan().get(i));
      }
    }
    terminal.note("");
    terminal.note("The last events:");
    var lines = shown.trace();
    lines
        .subList(Math.max(0, lines.size() - 25), lines.size())
        .forEach(text -> terminal.note("  " + text));
    shown.violations().forEach(violation -> terminal.note("  " + violation));
    terminal.note("");
    terminal.error("Again: keeper simulate " + shown(shortest) + " --trace");
  }

  private static String shown(SeededRun run) {
    var text = new StringBuilder(run.subject().text()).append(" --seed ").append(run.seed());
    run.bug().ifPresent(bug -> text.append(" --plant ").append(bug));
    if (!run.skipped().isEmpty()) {
      text.append(" --skip ")
          .append(run.skipped().stream().map(String::valueOf).collect(Collectors.joining(",")));
    }
    return text.toString();
  }

  private static String line(SeededRun run, SimulationReport report) {
    return String.format(
        Locale.ROOT,
        "Seed %d: %,d steps, %,d handled, %.1f simulated seconds; %d violations. Fingerprint %s.",
        run.seed(),
        report.steps(),
        report.handled(),
        report.simulated().toMillis() / 1000.0,
        report.violations().size(),
        report.fingerprint());
  }

  private static String json(SeededRun run, SimulationReport report) {
    var node = JsonNodeFactory.instance.objectNode();
    node.put("what", run.subject().text());
    node.put("seed", run.seed());
    node.put("steps", report.steps());
    node.put("handled", report.handled());
    node.put("simulated", report.simulated().toString());
    node.put("fingerprint", report.fingerprint());
    var plan = node.putArray("plan");
    report.plan().forEach(plan::add);
    var violations = node.putArray("violations");
    report.violations().forEach(violation -> violations.add(violation.toString()));
    return node.toPrettyString();
  }

  // Runs the simulation of owners on the memory provider.

  private int runOwners(Terminal terminal) {
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
        " owners --seed %d --owners %d --sessions %d --messages %d",
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
    ObjectNode node = JsonNodeFactory.instance.objectNode();
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
        "Seed %d: %,d steps, %,d messages handled, %,d leases lost, %,d dead letters, %.1f simulated seconds;"
            + " %d violations. Fingerprint %s.",
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
