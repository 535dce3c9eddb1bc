package dev.sessionkeeper.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * What a run took: time on the wall, and time of all processors. On a machine with other work only
 * the second can be compared.
 *
 * @param holds how often a session was taken; 0 where there is no such thing
 */
record Took(long wallNanos, long cpuNanos, long holds) {

  /** Begins to measure. */
  static Took now() {
    return new Took(System.nanoTime(), cpu(), 0);
  }

  /** What was taken since this was made by {@link #now}. */
  Took since() {
    return new Took(System.nanoTime() - wallNanos, cpu() - cpuNanos, holds);
  }

  /** The same, and how often a session was taken for it. */
  Took with(long sessionsTaken) {
    return new Took(wallNanos, cpuNanos, sessionsTaken);
  }

  private static long cpu() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }
}
