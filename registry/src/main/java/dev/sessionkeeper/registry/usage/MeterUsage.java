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
 * Meters all open sessions up to the end of a slot, a chunk of rows per transaction.
 *
 * <p>I1: in one transaction the ledger rows are written, the watermark of their sessions moves, and
 * the batch is frozen. I2: what is metered follows from the locked row alone, so two of these that
 * run at the same time, with or without a lease, meter each microsecond once. I3: rows that someone
 * else has locked are left for the next slot; an ended session stays open until it is metered to
 * its end.
 *
 * <p>When there is more than a chunk, two workers go through the sessions in the order of their
 * tenants, one from each end, until they meet: they hardly ever need the same tenant's number.
 */
final class MeterUsage {
  /** Runs a chunk: in a transaction that is fenced by a job's lease, or in a plain one. */
  @FunctionalInterface
  interface Transactions {
    <T> T run(Database.Work<T> work);
  }

  /** May refuse to go on, in the chunk's transaction. */
  @FunctionalInterface
  interface Guard {
    void check(Connection connection) throws SQLException;
  }

  private final Transactions transactions;
  private final Guard guard;
  private final IntConsumer progress;

  /**
   * Prepares.
   *
   * @param progress hears how many rows are written so far, from any thread
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

  /** One way through the sessions. */
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
        // The failure that ended this thread ends the other thread after its chunk.
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
        // Nothing is due, or metering is held; the difference is worth a statement only here.
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

  /** A session with the usage of the slot. */
  record Used(MeteredSession session, LedgerRow row) {}
}
