package dev.sessionkeeper.benchmarks;

import java.io.PrintStream;
import java.util.List;

/**
 * The memory provider through the full processor, beside what else one could use.
 *
 * <p>Arguments: messages per run (400,000), repetitions (5), messages per run beside
 * parallel-consumer (50,000).
 */
public final class MemoryBenchmark {
  private static final PrintStream OUT = System.out;
  private static final int WARM_UPS = 4;

  private MemoryBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    int messages = argument(arguments, 0, 400_000);
    var side = new SideBySide(WARM_UPS, argument(arguments, 1, 5));
    int cores = Runtime.getRuntime().availableProcessors();
    var ours = new ProcessorArm("processor", 8, Thread.ofVirtual().factory());
    List<Arm> arms =
        List.of(
            ours,
            new BareDequeArm(cores, 1),
            new BareDequeArm(cores, 32),
            new StripedExecutorsArm());
    for (boolean together : new boolean[] {false, true}) {
      for (int sessions : new int[] {1, 1_000, 100_000}) {
        print(side, arms, new Arm.Load(sessions, messages, together));
      }
    }
    print(
        side,
        List.of(ours, new ParallelConsumerArm()),
        new Arm.Load(1_000, argument(arguments, 2, 50_000), false));
    new SessionCosts(100_000).print(OUT);
  }

  private static void print(SideBySide side, List<Arm> arms, Arm.Load load) throws Exception {
    OUT.printf(
        "%n%,d messages over %,d sessions, %s%n",
        load.messages(),
        load.sessions(),
        load.together() ? "sent while they are handled" : "sent before they are handled");
    var all = side.run(arms, load);
    var first = all.values().iterator().next();
    all.forEach((name, runs) -> OUT.println(SideBySide.line(name, runs, first, load.messages())));
  }

  private static int argument(String[] arguments, int index, int otherwise) {
    return arguments.length > index ? Integer.parseInt(arguments[index]) : otherwise;
  }
}
