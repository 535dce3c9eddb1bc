package dev.sessionkeeper.benchmarks;

import java.io.PrintStream;
import java.util.List;

/** The memory provider through the full processor, beside what else one could use. */
public final class MemoryBenchmark {
  private static final PrintStream OUT = System.out;

  private MemoryBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    int messages = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 400_000;
    int repetitions = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
    var side = new SideBySide(2, repetitions);
    int cores = Runtime.getRuntime().availableProcessors();
    List<Arm> arms =
        List.of(
            new ProcessorArm("processor, virtual", 8, Thread.ofVirtual().factory()),
            new ProcessorArm("processor, platform", 2 * cores, Thread.ofPlatform().factory()),
            new BareDequeArm(cores),
            new StripedExecutorsArm());
    for (boolean together : new boolean[] {false, true}) {
      for (int sessions : new int[] {1, 1_000, 100_000}) {
        var load = new Arm.Load(sessions, messages, together);
        OUT.println(load);
        var rates = side.run(arms, load);
        double first = SideBySide.median(rates.get(arms.get(0).name()));
        rates.forEach((name, all) -> OUT.println(SideBySide.line(name, all, first)));
      }
    }
  }
}
