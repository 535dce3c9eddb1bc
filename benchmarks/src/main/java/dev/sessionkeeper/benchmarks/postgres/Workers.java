package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The processes of a contestant, for all of its turns. One thread gives commands, and waits until
 * all have finished.
 */
final class Workers implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final String HEAP = "-Xmx1g";

  private final Bench bench;
  private final List<ChildProcess> processes = new ArrayList<>();

  private Workers(Bench bench) {
    this.bench = bench;
  }

  static Workers start(Bench bench, Arms arm, int count) throws IOException {
    var workers = new Workers(bench);
    for (int i = 0; i < count; i++) {
      workers.add(arm.name().toLowerCase(java.util.Locale.ROOT) + "-" + i);
    }
    return workers;
  }

  private void add(String name) throws IOException {
    processes.add(
        ChildProcess.start(
            name,
            WorkerProcess.class,
            bench.address().asEnvironment(),
            bench.folder().resolve(name + ".log"),
            HEAP));
  }

  int count() {
    return processes.size();
  }

  /**
   * Opens a turn in one process after the other, because the first one creates the missing tables
   * and queues.
   */
  Scoreboard open(Turn.Wish wish) throws IOException, InterruptedException {
    for (int i = 0; i < processes.size(); i++) {
      tell(i, wish.of(i).command());
    }
    return wish.scoreboard();
  }

  /** Gives a command to all processes at the same time. */
  void tellAll(String command) throws IOException, InterruptedException {
    for (var process : processes) {
      process.tell(command);
    }
    for (var process : processes) {
      process.await(command.split(" ", 2)[0], PATIENCE);
    }
  }

  /** Gives a command to one process. */
  String tell(int worker, String command) throws IOException, InterruptedException {
    var process = processes.get(worker);
    process.tell(command);
    return process.await(command.split(" ", 2)[0], PATIENCE);
  }

  /** Kills one process. */
  void kill(int worker) throws InterruptedException {
    processes.get(worker).kill();
  }

  /** Replaces a killed process. */
  void replace(int worker) throws IOException {
    var name = processes.get(worker).name();
    add(name);
    processes.set(worker, processes.removeLast());
  }

  double cpuSeconds() {
    return processes.stream().mapToDouble(process -> CpuTime.secondsOf(process.pid())).sum();
  }

  @Override
  public void close() {
    processes.forEach(ChildProcess::close);
  }
}
