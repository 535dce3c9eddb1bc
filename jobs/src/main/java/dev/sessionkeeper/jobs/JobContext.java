package dev.sessionkeeper.jobs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.store.Database;

/** The context of one run: its slot, its lease and its transactions. Thread-safe. */
public interface JobContext {
  String job();

  /** The lease as it was taken; its epoch goes with effects outside of the database. */
  Lease lease();

  JobSlot slot();

  /**
   * Returns whether this run still owns the job, as far as this process can know without asking.
   * Long work asks between its steps, and stops at a no.
   */
  boolean isHeld();

  /** Returns whether the process is closing. A run that ends soon saves the next owner work. */
  boolean isStopping();

  /**
   * Says how far the run has come, for people to read: at most 200 characters, as often as it
   * likes. Only the newest word is kept, and written within a second.
   */
  void report(String progress);

  /**
   * Runs work in a transaction that can only commit while this run owns the job: a successor waits
   * for it, and once there is a successor it is refused.
   *
   * @throws KeeperException.LockLost if the lease is lost; nothing was changed
   */
  <T> T inFencedTransaction(Database.Work<T> work);

  /**
   * As {@link #inFencedTransaction}, and the slot is done if and only if it commits: such work
   * takes effect at most once per slot. Nothing may follow it in the run.
   */
  void completeIn(Database.Act work);
}
