package dev.sessionkeeper.jobs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The context of one run. I1: no transaction begins after the local deadline. */
final class FencedContext implements JobContext {
  private static final Logger log = LoggerFactory.getLogger(FencedContext.class);

  private final HeldLease held;
  private final JobSlot slot;
  private final Schedule schedule;
  private final JobLeases leases;
  private final Consumer<JobEvent> events;
  private final Consumer<String> progress;
  private volatile boolean stopping;
  private volatile boolean completed;

  FencedContext(
      HeldLease held,
      JobSlot slot,
      Schedule schedule,
      JobLeases leases,
      Consumer<JobEvent> events,
      Consumer<String> progress) {
    this.held = held;
    this.slot = slot;
    this.schedule = schedule;
    this.leases = leases;
    this.events = events;
    this.progress = progress;
  }

  @Override
  public String job() {
    return held.lease().resource();
  }

  @Override
  public Lease lease() {
    return held.lease();
  }

  @Override
  public JobSlot slot() {
    return slot;
  }

  @Override
  public boolean isHeld() {
    return held.isHeld() && !completed;
  }

  @Override
  public boolean isStopping() {
    return stopping;
  }

  @Override
  public void report(String text) {
    progress.accept(text);
  }

  void stop() {
    stopping = true;
  }

  boolean isCompleted() {
    return completed;
  }

  @Override
  public <T> T inFencedTransaction(Database.Work<T> work) {
    requireHeld("a transaction");
    try {
      return leases.work().inTransaction(connection -> fenced(connection, work));
    } catch (KeeperException.Unavailable | KeeperException.Rejected e) {
      if (held.isHeld()) {
        throw e;
      }
      // The transaction was rolled back because the lease ended; report that, not the SQL error.
      var lost = rejected("a transaction");
      lost.addSuppressed(e);
      throw lost;
    }
  }

  private <T> T fenced(Connection connection, Database.Work<T> work) throws SQLException {
    var abort = held.whenLost(() -> abort(connection));
    try {
      requireFence(connection);
      return work.run(connection);
    } finally {
      abort.cancel();
    }
  }

  @Override
  public void completeIn(Database.Act work) {
    inFencedTransaction(
        connection -> {
          work.run(connection);
          requireComplete(connection);
          return true;
        });
    completed = true;
  }

  /** Completes a run whose work did not complete it. */
  void complete() {
    requireHeld("complete");
    leases.database().doInTransaction(this::requireComplete);
    completed = true;
  }

  private void requireComplete(Connection connection) throws SQLException {
    if (!leases.complete(connection, held.lease(), slot, schedule.next(slot))) {
      throw rejected("complete");
    }
  }

  private void requireFence(Connection connection) throws SQLException {
    if (!leases.fence(connection, held.lease())) {
      throw rejected("a transaction");
    }
  }

  private void requireHeld(String call) {
    if (!isHeld()) {
      throw rejected(call);
    }
  }

  KeeperException.LockLost rejected(String call) {
    var lease = held.lease();
    log.warn(
        "Refused {} of job {} under epoch {}: the lease is no longer held, nothing was changed",
        call,
        lease.resource(),
        lease.epoch());
    events.accept(new JobEvent.FenceRejected(lease.resource(), lease.epoch(), call));
    // A refused transaction means that the lease is lost, even if no renewal has noticed yet.
    held.lose("the database refused its epoch, or the deadline passed");
    return new KeeperException.LockLost("job " + lease.resource(), lease.epoch());
  }

  private static void abort(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      log.debug("A connection of a lost run could not be aborted; its transaction is fenced", e);
    }
  }
}
