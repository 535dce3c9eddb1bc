package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.testkit.StepByStep;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Kills a process right before or right after one of its statements, failed or not. */
public final class DieAtStatement {
  public static final String AT = "KEEPER_FAULTS_DIE_AT";

  private DieAtStatement() {}

  /** Returns the data source unchanged, unless this process was told at which statement to die. */
  public static DataSource of(DataSource source) {
    var at = System.getenv(AT);
    if (at == null) {
      return source;
    }
    int last = Math.abs(Integer.parseInt(at));
    boolean isAfter = at.startsWith("-");
    var count = new AtomicInteger();
    return StepByStep.of(
        source,
        (step, connection, work) -> {
          boolean isLast = count.incrementAndGet() == last;
          if (isLast && !isAfter) {
            die();
          }
          try {
            return work.run();
          } finally {
            if (isLast) {
              die();
            }
          }
        });
  }

  private static void die() {
    Runtime.getRuntime().halt(137);
  }
}
