package dev.sessionkeeper.jobs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.store.Database;

/** The context of one run: its slot, its lease and its transactions. Thread-safe. */
public interface JobContext {
  String job();

  /** Returns the lease as it was taken. Write its epoch with effects outside the database. */
  Lease lease();

  JobSlot slot();

  /**
   * Returns whether this run still owns the job, as far as this process knows. Long work should ask
   * between its steps, and stop if the answer is false.
   */
  boolean isHeld();

  /** Returns whether the process is closing. A run that ends soon saves the next owner work. */
  boolean isStopping();

  /**
   * Reports the progress of the run, for people: at most 200 characters, as often as needed. Only
   * the newest text is kept, and written within a second.
   */
  void report(String progress);

  /**
   * Runs work in a transaction that can only commit while this run owns the job. A successor waits
   * for the transaction; once there is a successor, the transaction is refused.
   *
   * @throws KeeperException.LockLost if the lease is lost; nothing was changed
   */
  <T> T inFencedTransaction(Database.Work<T> work);

  /**
   * Runs work as {@link #inFencedTransaction} does, and completes the slot if and only if the
   * transaction commits. Such work takes effect at most once per slot. It must be the last step of
   * the run.
   */
  void completeIn(Database.Act work);
}
