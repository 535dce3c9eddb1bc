package dev.sessionkeeper.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * What a run took: time on the wall, and time of all processors. On a machine with other work only
 * the second can be compared.
 */
record Took(long wallNanos, long cpuNanos) {

  /** Begins to measure. */
  static Took now() {
    return new Took(System.nanoTime(), cpu());
  }

  /** What was taken since this was made by {@link #now}. */
  Took since() {
    return new Took(System.nanoTime() - wallNanos, cpu() - cpuNanos);
  }

  private static long cpu() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }
}
