package dev.sessionkeeper.benchmarks;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;

/**
 * Compares the memory provider, through the full processor, with alternatives.
 *
 * <p>Arguments: messages per run (1,000,000), repetitions (5), messages per run beside
 * parallel-consumer (100,000), messages per run with longer sessions (4,000,000). To measure the
 * cost of a message without contention between threads, run it on one processor, for example with
 * {@code taskset -c 0}. Use a fixed heap, such as {@code -Xms3g -Xmx3g}: otherwise its resizing is
 * measured.
 */
public final class MemoryBenchmark {
  private static final PrintStream OUT = System.out;
  private static final int WARM_UPS = 3;
  private static final int SLOTS = 8;
  private static final int QUANTUM = 1000;
  private static final int FEW = 1_000;
  private static final int MANY = 100_000;

  private final SideBySide side;
  private final int messages;
  private final Arm ours =
      new ProcessorArm("processor", SLOTS, QUANTUM, Thread.ofVirtual().factory());
  private final Arm bare = new BareDequeArm(Runtime.getRuntime().availableProcessors(), 1);
  private final List<Arm> arms =
      List.of(
          ours,
          bare,
          new BareDequeArm(Runtime.getRuntime().availableProcessors(), 32),
          new StripedExecutorsArm());

  private MemoryBenchmark(SideBySide side, int messages) {
    this.side = side;
    this.messages = messages;
  }

  public static void main(String[] arguments) throws Exception {
    var side = new SideBySide(WARM_UPS, argument(arguments, 1, 5));
    var benchmark = new MemoryBenchmark(side, argument(arguments, 0, 1_000_000));
    for (boolean together : new boolean[] {false, true}) {
      benchmark.compare(together);
    }
    benchmark.withLongerSessions(argument(arguments, 3, 4_000_000));
    benchmark.besideParallelConsumer(argument(arguments, 2, 100_000));
    new SessionCosts(MANY).print(OUT);
    System.exit(0); // A peer may leave threads running.
  }

  private void compare(boolean together) throws Exception {
    run(arms, new Arm.Load(1, messages, together));
    var few = run(arms, new Arm.Load(FEW, messages, together));
    var many = run(arms, new Arm.Load(MANY, messages, together));
    int each = Math.max(1, messages / MANY);
    var shortHolds = new ProcessorArm("short holds", SLOTS, each, Thread.ofVirtual().factory());
    var equal = run(List.of(shortHolds), new Arm.Load(FEW, messages, together));

    OUT.printf("%nCost per message over %,d sessions, as a multiple of that over %,d%n", MANY, FEW);
    flat("processor, the same messages in all", of(ours, many), of(ours, few), messages);
    flat("bare deque, the same messages in all", of(bare, many), of(bare, few), messages);
    flat("processor, holds made equal", of(ours, many), of(shortHolds, equal), messages);
  }

  /** Runs longer sessions, in which more messages share the cost of a hold. */
  private void withLongerSessions(int count) throws Exception {
    var few = run(List.of(ours), new Arm.Load(FEW, count, false));
    var many = run(List.of(ours), new Arm.Load(MANY, count, false));
    OUT.printf("%nCost per message over %,d sessions, as a multiple of that over %,d%n", MANY, FEW);
    flat("processor, longer sessions", of(ours, many), of(ours, few), count);
  }

  private static void flat(String what, List<Took> many, List<Took> few, int count) {
    OUT.printf(
        "  %-38s %.2f by time, %.2f by CPU; %,d messages per session beside %,d%s%n",
        what,
        SideBySide.wall(many, count) / SideBySide.wall(few, count),
        SideBySide.cpu(many, count) / SideBySide.cpu(few, count),
        count / MANY,
        count / FEW,
        SideBySide.perHold(many, count)
            .flatMap(
                more ->
                    SideBySide.perHold(few, count)
                        .map(less -> ", %.1f per hold beside %.1f".formatted(more, less)))
            .orElse(""));
  }

  private static List<Took> of(Arm arm, Map<String, List<Took>> runs) {
    return runs.getOrDefault(arm.name(), List.of());
  }

  private void besideParallelConsumer(int count) throws Exception {
    OUT.printf(
        "%nparallel-consumer in KEY mode on Kafka's MockConsumer: no broker, no network, one"
            + " partition; workers, buffer and poll size tuned for it%n");
    run(List.of(ours, new ParallelConsumerArm()), new Arm.Load(FEW, count, false));
  }

  private Map<String, List<Took>> run(List<Arm> these, Arm.Load load) throws Exception {
    OUT.printf(
        "%n%,d messages over %,d sessions, %s%n",
        load.messages(),
        load.sessions(),
        load.together() ? "sent while they are handled" : "sent before they are handled");
    var all = side.run(these, load);
    var first = all.values().iterator().next();
    all.forEach((name, runs) -> OUT.println(SideBySide.line(name, runs, first, load.messages())));
    return all;
  }

  private static int argument(String[] arguments, int index, int otherwise) {
    return arguments.length > index ? Integer.parseInt(arguments[index]) : otherwise;
  }
}
