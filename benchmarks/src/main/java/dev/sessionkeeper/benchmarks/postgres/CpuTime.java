package dev.sessionkeeper.benchmarks.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The processor time of a database: its processes and their reaped children, on Linux. */
public final class CpuTime {
  private static final int USER = 11;
  private static final int CHILDREN_SYSTEM = 14;
  private static final double TICKS_PER_SECOND = 100;

  private CpuTime() {}

  /** Returns the seconds used so far; NaN if the system does not tell. */
  public static double secondsOf(long pid) {
    var root = ProcessHandle.of(pid);
    if (root.isEmpty() || !Files.isDirectory(Path.of("/proc/self"))) {
      return Double.NaN;
    }
    double sum = ticks(pid, true);
    for (var child : root.get().descendants().toList()) {
      sum += ticks(child.pid(), false);
    }
    return sum / TICKS_PER_SECOND;
  }

  private static double ticks(long pid, boolean withReaped) {
    try {
      var stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      double sum = 0;
      for (int i = USER; i <= (withReaped ? CHILDREN_SYSTEM : USER + 1); i++) {
        sum += Double.parseDouble(fields[i]);
      }
      return sum;
    } catch (IOException e) {
      return 0; // The process ended meanwhile.
    }
  }
}
