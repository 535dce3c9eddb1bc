package dev.sessionkeeper.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * The cost of a run: wall-clock time, and time of all processors. On a machine with other work only
 * the second can be compared.
 *
 * @param holds how often a session was accepted; 0 if there are no holds
 */
record Took(long wallNanos, long cpuNanos, long holds) {

  /** Begins to measure. */
  static Took now() {
    return new Took(System.nanoTime(), cpu(), 0);
  }

  /** Returns the cost since {@link #now} created this. */
  Took since() {
    return new Took(System.nanoTime() - wallNanos, cpu() - cpuNanos, holds);
  }

  /** Returns the same cost with the number of accepted sessions. */
  Took with(long sessionsTaken) {
    return new Took(wallNanos, cpuNanos, sessionsTaken);
  }

  private static long cpu() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }
}
