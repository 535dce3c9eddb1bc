package dev.sessionkeeper.benchmarks;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The cost of one session in the memory provider: bytes while idle, and the time to create, find
 * and end it.
 */
final class SessionCosts {
  private static final QueueName QUEUE = QueueName.of("costs");
  private static final Owner OWNER = Owner.of("costs");

  private static final int WARM_UPS = 3;

  private final int sessions;

  SessionCosts(int sessions) {
    this.sessions = sessions;
  }

  void print(PrintStream out) throws InterruptedException {
    for (int round = 0; round < WARM_UPS; round++) {
      measure();
    }
    var costs = measure();
    out.printf("Sessions in the memory provider, %,d of them%n", sessions);
    out.printf("  %-28s %10.0f bytes, goal 1,200%n", "held and idle", costs.bytes);
    out.printf("  %-28s %10.4f ms, goal 1%n", "creation (first send)", costs.creation);
    out.printf("  %-28s %10.4f ms, goal 0.1%n", "lookup (accept, refused)", costs.lookup);
    out.printf("  %-28s %10.4f ms, goal 0.5%n", "cleanup (close, forgotten)", costs.cleanup);
  }

  private Costs measure() throws InterruptedException {
    var ids = new SessionId[sessions];
    for (int i = 0; i < sessions; i++) {
      ids[i] = SessionId.of("session-" + i);
    }
    try (var provider = MemoryQueueProvider.create()) {
      provider.declare(QUEUE, QueueSettings.ordered().withDuplicateWindow(Duration.ZERO));
      long before = usedBytes();
      long started = System.nanoTime();
      for (var id : ids) {
        provider.send(QUEUE, List.of(Message.of(id, Payload.empty())));
      }
      double creation = perSession(started);

      var source = provider.sessions(QUEUE);
      var held = new ArrayList<HeldSession>(sessions);
      for (int i = 0; i < sessions; i++) {
        if (source.acceptNext(OWNER, Duration.ZERO) instanceof AcceptResult.Accepted accepted) {
          var session = accepted.session();
          for (var delivery : session.receive(1, Duration.ZERO)) {
            session.settle(List.of(new Settled(delivery.sequence(), Settlement.complete())));
          }
          held.add(session);
        }
      }
      double bytes = (double) (usedBytes() - before) / sessions;

      started = System.nanoTime();
      for (var id : ids) {
        if (!(source.accept(id, OWNER, Duration.ZERO) instanceof AcceptResult.Locked)) {
          throw new IllegalStateException("Session " + id + " is not held");
        }
      }
      double lookup = perSession(started);

      started = System.nanoTime();
      held.forEach(HeldSession::close);
      double cleanup = perSession(started);
      return new Costs(bytes, creation, lookup, cleanup);
    }
  }

  /** The costs: all in milliseconds except the bytes. */
  private record Costs(double bytes, double creation, double lookup, double cleanup) {}

  private double perSession(long started) {
    return (System.nanoTime() - started) / 1e6 / sessions;
  }

  private static long usedBytes() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    var runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
