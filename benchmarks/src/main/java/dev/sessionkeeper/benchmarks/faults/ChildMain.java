package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import dev.sessionkeeper.spi.QueueProvider;
import java.util.concurrent.locks.LockSupport;

/** Shared code of the processes of a run. */
final class ChildMain {
  static final String NAME = "KEEPER_FAULTS_NAME";
  static final String CREATE_EFFECTS =
      """
      CREATE TABLE effect (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session text NOT NULL,
        number bigint NOT NULL, epoch bigint NOT NULL, attempt int NOT NULL)
      """;
  static final String INSERT_EFFECT =
      "INSERT INTO effect (session, number, epoch, attempt) VALUES (?, ?, ?, ?)";
  static final String EFFECTS = "SELECT session, number, epoch, attempt FROM effect ORDER BY id";

  private static final long PAUSE_NANOS = 200_000_000;

  private ChildMain() {}

  /** Work that needs the database to begin. */
  interface Work {
    void run() throws Exception;
  }

  /** Repeats the work while the database does not answer, as it may at any moment. */
  static void untilTheDatabaseAnswers(Work work) throws Exception {
    while (true) {
      try {
        work.run();
        return;
      } catch (KeeperException e) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  static String nameOfThisProcess() {
    return wished(NAME);
  }

  /** Returns a value that the parent wrote into the environment. */
  static String wished(String name) {
    return ChildProcess.fromParent(name);
  }

  /** Asks the database once, so that an unavailable one is noticed before the work begins. */
  static void requireQueue(QueueProvider provider) {
    if (provider.settings(Shape.QUEUE).isEmpty()) {
      throw new IllegalStateException("There is no queue " + Shape.QUEUE);
    }
  }

  /** Sends a line to the parent. */
  static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
