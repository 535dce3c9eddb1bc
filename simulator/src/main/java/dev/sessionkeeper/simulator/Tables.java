package dev.sessionkeeper.simulator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A small transactional database in the manner of READ COMMITTED: rows can be locked, a statement
 * sees what was committed when it ran, and writes take effect at the commit.
 *
 * <p>Between two statements of a transaction any other process may run.
 */
final class Tables {
  /** The mode of a row lock. */
  enum Mode {
    /** FOR KEY SHARE. */
    SHARED,
    /** FOR UPDATE. */
    EXCLUSIVE
  }

  private static final Duration LONGEST_LOCK_WAIT = Duration.ofSeconds(5);

  private final World world;
  private final Runnable afterCommit;
  private final Map<String, Map<Transaction, Mode>> locks = new HashMap<>();
  private long commits;
  private long incarnation;

  /**
   * Creates empty tables.
   *
   * @param afterCommit checks the tables after every commit
   */
  Tables(World world, Runnable afterCommit) {
    this.world = world;
    this.afterCommit = afterCommit;
  }

  /** Returns a number that grows with every commit; a snapshot is such a number. */
  long commits() {
    return commits;
  }

  /** Ends all transactions, as a crash of the database does. */
  void restart() {
    incarnation++;
    locks.clear();
  }

  /** Ends the transactions of a frozen process, as a timeout for idle ones does. */
  void endIdle(World.Machine process) {
    for (var holders : locks.values()) {
      for (var holder : List.copyOf(holders.keySet())) {
        if (holder.process.equals(process)) {
          holder.isDoomed = true;
          holders.remove(holder);
        }
      }
    }
  }

  /** Reports a broken connection, which ended the transaction. */
  static final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1;

    Broken(String why) {
      super(why, null, false, false);
    }
  }

  /** Runs a transaction on the thread of a process, statement by statement. */
  <T> T transaction(World.Machine process, Supplier<Duration> delay, Function<T> work) {
    var transaction = new Transaction(process, delay, incarnation);
    try {
      var result = work.run(transaction);
      transaction.commit();
      return result;
    } finally {
      transaction.release();
    }
  }

  /** The statements of a transaction. */
  @FunctionalInterface
  interface Function<T> {
    T run(Transaction transaction);
  }

  /** One transaction. */
  final class Transaction {
    private final World.Machine process;
    private final Supplier<Duration> delay;
    private final long began;
    private final List<Runnable> writes = new ArrayList<>();
    private final Map<String, Mode> held = new LinkedHashMap<>();
    private boolean isDoomed;

    private Transaction(World.Machine process, Supplier<Duration> delay, long began) {
      this.process = process;
      this.delay = delay;
      this.began = began;
    }

    /** Simulates the request to the database, and waits until the next statement may run. */
    void statement() {
      world.await(() -> false, delay.get());
      requireConnection();
    }

    private void requireConnection() {
      if (began != incarnation) {
        throw new Broken("the database restarted");
      }
      if (isDoomed) {
        throw new Broken("idle_in_transaction_session_timeout");
      }
    }

    /** Locks a row, and waits while another transaction holds it. */
    void lock(String row, Mode mode) {
      BooleanSupplier isFree = () -> began != incarnation || isFree(row, mode);
      if (!isFree.getAsBoolean()) {
        world.await(isFree, LONGEST_LOCK_WAIT);
      }
      requireConnection();
      if (!isFree(row, mode)) {
        throw new Broken("lock_timeout on " + row);
      }
      locks.computeIfAbsent(row, key -> new LinkedHashMap<>()).put(this, mode);
      held.merge(row, mode, (a, b) -> a == Mode.EXCLUSIVE ? a : b);
    }

    boolean tryLock(String row) {
      if (!isFree(row, Mode.EXCLUSIVE)) {
        return false;
      }
      lock(row, Mode.EXCLUSIVE);
      return true;
    }

    private boolean isFree(String row, Mode mode) {
      var holders = locks.getOrDefault(row, Map.of());
      for (var holder : holders.entrySet()) {
        boolean isGone = holder.getKey().process.isDead;
        if (!holder.getKey().equals(this)
            && !isGone
            && (mode == Mode.EXCLUSIVE || holder.getValue() == Mode.EXCLUSIVE)) {
          return false;
        }
      }
      return true;
    }

    /** Schedules a change of rows for the commit. */
    void write(Runnable change) {
      writes.add(change);
    }

    private void commit() {
      if (writes.isEmpty()) {
        return;
      }
      statement();
      commits++;
      writes.forEach(Runnable::run);
      release();
      afterCommit.run();
      // The way of the answer: the process may crash or freeze before it learns of the commit.
      world.await(() -> false, delay.get());
    }

    private void release() {
      held.keySet().forEach(row -> forget(row, holders -> holders.remove(this)));
    }

    private void forget(String row, Consumer<Map<Transaction, Mode>> change) {
      var holders = locks.get(row);
      if (holders != null) {
        change.accept(holders);
      }
    }
  }
}
