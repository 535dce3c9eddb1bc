package dev.sessionkeeper.server.http;

import java.io.PrintStream;
import java.util.Optional;

/**
 * Ends the process when it has run out of memory.
 *
 * <p>After an OutOfMemoryError any thread may have stopped half-way: leases expire unnoticed and
 * clients wait. A supervisor restarts a process that has ended. The launcher makes the virtual
 * machine exit at the first failed allocation; this class covers processes that were started
 * otherwise, and memory outside the heap.
 */
public final class EndOnOutOfMemory {
  /** The exit code, the same as that of the virtual machine's own exit. */
  public static final int EXIT_CODE = 3;

  private static final int MOST_CAUSES = 20;

  private EndOnOutOfMemory() {}

  /** Ends the process also when a thread without a handler of its own runs out of memory. */
  public static void watchAllThreads() {
    var before = Optional.ofNullable(Thread.getDefaultUncaughtExceptionHandler());
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, failure) -> {
          check(failure);
          before.ifPresentOrElse(
              handler -> handler.uncaughtException(thread, failure),
              () -> failure.printStackTrace(System.err));
        });
  }

  /** Ends the process if the failure, or a cause of it, is an OutOfMemoryError. */
  static void check(Throwable failure) {
    if (isOutOfMemory(failure)) {
      say(System.err, failure);
      Runtime.getRuntime().halt(EXIT_CODE);
    }
  }

  static boolean isOutOfMemory(Throwable failure) {
    Throwable each = failure;
    for (int i = 0; i < MOST_CAUSES && each != null; i++) {
      if (each instanceof OutOfMemoryError) {
        return true;
      }
      each = each.getCause();
    }
    return false;
  }

  private static void say(PrintStream err, Throwable failure) {
    err.println(
        "keeper: The process ran out of memory and has ended ("
            + failure
            + "). Start it again; give it more with KEEPER_JAVA_OPTS=-Xmx2g.");
    err.flush();
  }
}
