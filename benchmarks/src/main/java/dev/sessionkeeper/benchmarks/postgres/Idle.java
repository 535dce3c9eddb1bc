package dev.sessionkeeper.benchmarks.postgres;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Locale;
import javax.sql.DataSource;

/** What a processor costs that has nothing to do. */
record Idle(DataSource database, long databasePid) {

  void run(Duration duration) throws Exception {
    try (var arm = KeeperArm.open(database, 1000)) {
      arm.consume(new Load(1000, 1));
      Thread.sleep(3000);
      double server = CpuTime.secondsOf(databasePid);
      double client = clientSeconds();
      Thread.sleep(duration);
      PostgresBenchmark.print(
          String.format(
              Locale.ROOT,
              "idle: database %.2f %%, client %.2f %% of one core",
              (CpuTime.secondsOf(databasePid) - server) * 100 / duration.toSeconds(),
              (clientSeconds() - client) * 100 / duration.toSeconds()));
    }
  }

  private static double clientSeconds() {
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return system.getProcessCpuTime() / 1e9;
  }
}
