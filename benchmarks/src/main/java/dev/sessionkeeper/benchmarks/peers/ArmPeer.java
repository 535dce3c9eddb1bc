package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.Arm;
import dev.sessionkeeper.benchmarks.postgres.Load;
import java.util.Optional;
import java.util.function.DoubleSupplier;

/**
 * A peer that this process can call.
 *
 * @param filling how the backlog is stored
 * @param cpuSeconds what client and engine have used so far
 */
record ArmPeer(String name, double goal, Fill filling, Engine engine, DoubleSupplier cpuSeconds)
    implements Peer {

  /** Starts a fresh engine with an empty queue. */
  @FunctionalInterface
  interface Engine {
    Arm open(int keys) throws Exception;
  }

  @Override
  public Optional<String> missing() {
    return Optional.empty();
  }

  @Override
  public boolean warmsUp() {
    return true;
  }

  @Override
  public Drained drain(Backlog backlog) throws Exception {
    try (var arm = engine.open(backlog.keys())) {
      var load = new Load(backlog.keys(), filling.threads());
      double fillSeconds = filling.run(arm, load, backlog);
      long sent = load.sent();
      double cpu = cpuSeconds.getAsDouble();
      long began = System.nanoTime();
      arm.consume(load);
      long cap = backlog.cap().toNanos();
      while (load.handled() == 0 && System.nanoTime() < began + cap) {
        Thread.sleep(1);
      }
      long first = System.nanoTime();
      while (load.handled() < sent && System.nanoTime() < first + cap) {
        Thread.sleep(1);
      }
      long handled = load.handled();
      long end = System.nanoTime();
      cpu = cpuSeconds.getAsDouble() - cpu;
      // Before the end, because a consumer that ends may pass its last messages to another one.
      long violations = load.violations();
      arm.stopConsuming();
      return new Drained(
          sent, fillSeconds, handled, (first - began) / 1e9, (end - began) / 1e9, cpu, violations);
    }
  }

  @Override
  public Delays delays(Pace pace) throws Exception {
    try (var arm = engine.open(pace.keys())) {
      return new SendAtPace(pace).run(arm);
    }
  }
}
