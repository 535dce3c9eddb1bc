package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * Meters all open sessions up to the end of a slot, one chunk of rows per transaction.
 *
 * <p>I1: one transaction writes the ledger rows, moves the watermarks of their sessions, and
 * freezes the batch. I2: usage is computed from the locked row alone, so two concurrent runs, with
 * or without a lease, meter each microsecond once. I3: rows locked by another transaction are left
 * to the next slot; an ended session stays open until it is metered to its end.
 *
 * <p>If there is more than one chunk, two workers process the sessions in the order of their
 * tenants, one from each end, until they meet. So they rarely need the same tenant's batch number.
 */
final class MeterUsage {
  /** Runs a chunk in a transaction, fenced by a job's lease or plain. */
  @FunctionalInterface
  interface Transactions {
    <T> T run(Database.Work<T> work);
  }

  /** May refuse to continue, inside the chunk's transaction. */
  @FunctionalInterface
  interface Guard {
    void check(Connection connection) throws SQLException;
  }

  private final Transactions transactions;
  private final Guard guard;
  private final IntConsumer progress;

  /**
   * Creates the metering.
   *
   * @param progress receives the number of rows written so far, from any thread
   */
  MeterUsage(Transactions transactions, Guard guard, IntConsumer progress) {
    this.transactions = transactions;
    this.guard = guard;
    this.progress = progress;
  }

  /**
   * Meters up to the end of the slot, which must not be in the future.
   *
   * @return how many ledger rows were written
   */
  int until(Instant slotEnd) {
    var run = new Run(slotEnd);
    if (run.step(OpenSessions.End.LOW)) {
      run.fromBothEnds();
    }
    return run.written.get();
  }

  /** One run over the open sessions. */
  private final class Run {
    private final Instant slotEnd;
    private final OpenSessions sessions = new OpenSessions();
    private final AtomicInteger written = new AtomicInteger();

    Run(Instant slotEnd) {
      this.slotEnd = slotEnd;
    }

    void fromBothEnds() {
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var high = threads.submit(() -> go(OpenSessions.End.HIGH));
        go(OpenSessions.End.LOW);
        high.get();
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException failure) {
          throw failure;
        }
        throw new IllegalStateException("A metering worker failed", e);
      } catch (InterruptedException e) {
        sessions.stop();
        Thread.currentThread().interrupt();
      }
    }

    private void go(OpenSessions.End end) {
      boolean goesOn = true;
      try {
        while (goesOn && !Thread.currentThread().isInterrupted()) {
          goesOn = step(end);
        }
      } catch (RuntimeException e) {
        // A failure in one thread stops the other one after its chunk.
        sessions.stop();
        throw e;
      }
    }

    /** Returns whether this end may have more sessions. */
    boolean step(OpenSessions.End end) {
      var chunk = transactions.run(connection -> chunk(connection, end));
      progress.accept(written.addAndGet(chunk.written()));
      return sessions.passed(chunk.locked(), end);
    }

    private Chunk chunk(Connection connection, OpenSessions.End end) throws SQLException {
      var locked = sessions.lockNext(connection, slotEnd, end);
      if (locked.isEmpty()) {
        // Nothing is due, or metering is held; only here is a statement spent to find out which.
        guard.check(connection);
        return new Chunk(locked, 0);
      }
      var used = new ArrayList<Used>(locked.size());
      for (var session : locked) {
        session.usedUntil(slotEnd).ifPresent(row -> used.add(new Used(session, row)));
      }
      if (!used.isEmpty()) {
        WriteLedger.writeMetered(connection, used);
      }
      return new Chunk(locked, used.size());
    }
  }

  private record Chunk(List<MeteredSession> locked, int written) {}

  /** A session with its usage in the slot. */
  record Used(MeteredSession session, LedgerRow row) {}
}
