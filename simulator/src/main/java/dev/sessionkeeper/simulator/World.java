package dev.sessionkeeper.simulator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time, and threads of which one runs at a time, in an order that a seed decides.
 *
 * <p>The product's code runs on the threads of {@link #threads}. A thread yields its turn whenever
 * it waits: for time, for a signal, or for an answer of a store. So one seed always gives the same
 * run, although the threads are real.
 *
 * <p>I1: at most one simulated thread runs, and only between {@link #run} giving it the turn and
 * taking the turn back. I2: time moves only while no thread can run.
 */
final class World {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Random choices;
  private final List<Strand> strands = new ArrayList<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>(Timer::compare);
  private final Thread main = Thread.currentThread();
  private final Trace trace;
  private final Machine environment = new Machine("world");
  private volatile boolean isMainsTurn = true;
  private @Nullable Strand current;
  private long now;
  private long order;
  private long steps;

  World(long seed, Trace trace) {
    this.choices = new Random(seed);
    this.trace = trace;
  }

  /** Ends a thread of a machine that crashed. No product code may swallow it. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;

    Killed() {
      super("The machine of this thread crashed", null, false, false);
    }
  }

  long now() {
    return now;
  }

  /** Returns the machine of everything outside the nodes: senders, faults, checks. */
  Machine environment() {
    return environment;
  }

  long steps() {
    return steps;
  }

  Random choices() {
    return choices;
  }

  void note(String who, String what) {
    trace.add(now, who, what);
  }

  /** Returns a factory of threads that belong to a machine: they freeze and end with it. */
  ThreadFactory threads(Machine machine) {
    return task -> newThread(machine, task);
  }

  private Thread newThread(Machine machine, Runnable task) {
    var strand = new Strand(machine);
    strand.thread = Thread.ofVirtual().unstarted(() -> strand.live(task));
    strands.add(strand);
    return strand.thread;
  }

  void start(Machine machine, Runnable task) {
    newThread(machine, task).start();
  }

  /** Runs the task after the delay, outside any simulated thread: the task must not wait. */
  Timer after(Duration delay, Machine machine, Runnable task) {
    var timer = new Timer(now + Math.max(0, delay.toNanos()), order++, machine, task);
    timers.add(timer);
    return timer;
  }

  /** Makes the running thread wait for a condition, with a time limit. */
  void await(BooleanSupplier isReady, Duration atMost) {
    try {
      await(isReady, atMost, false);
    } catch (InterruptedException e) {
      throw new IllegalStateException("This wait is not interruptible", e);
    }
  }

  void await(BooleanSupplier isReady, Duration atMost, boolean isInterruptible)
      throws InterruptedException {
    var strand = current;
    if (strand == null || !Thread.currentThread().equals(strand.thread)) {
      throw new IllegalStateException("Only a simulated thread may wait in the simulation");
    }
    strand.pause(isReady, now + Math.max(0, atMost.toNanos()), isInterruptible);
  }

  /** Ends all threads of a machine at once, as a crash does. */
  void kill(Machine machine) {
    machine.isDead = true;
    timers.removeIf(timer -> timer.machine.equals(machine));
    for (var strand : List.copyOf(strands)) {
      if (strand.machine.equals(machine)
          && !strand.equals(current)
          && strand.thread.getState() != Thread.State.NEW) {
        resume(strand);
      }
    }
    strands.removeIf(strand -> strand.machine.equals(machine));
  }

  /** Ends all threads of all machines, so that a run leaves none behind. */
  void end() {
    timers.clear();
    while (!strands.isEmpty()) {
      var strand = strands.get(0);
      strand.machine.isDead = true;
      if (strand.isStarted()) {
        resume(strand);
      }
      strands.remove(strand);
    }
  }

  /**
   * Runs until the condition holds or no thread or timer is left. Returns whether the condition
   * holds.
   */
  boolean run(BooleanSupplier isOver, long mostSteps) {
    while (!isOver.getAsBoolean()) {
      if (steps++ >= mostSteps) {
        return false;
      }
      var runnable = runnable();
      if (runnable.isEmpty()) {
        long next = nextMoment();
        if (next == Long.MAX_VALUE) {
          return isOver.getAsBoolean();
        }
        now = Math.max(now, next);
      } else {
        runnable.get(choices.nextInt(runnable.size())).run();
      }
    }
    return true;
  }

  private List<Runnable> runnable() {
    var runnable = new ArrayList<Runnable>();
    for (var strand : strands) {
      if (strand.isRunnable()) {
        runnable.add(() -> resume(strand));
      }
    }
    for (var timer : timers) {
      if (timer.at <= now && !timer.machine.isFrozen) {
        runnable.add(() -> fire(timer));
      }
    }
    return runnable;
  }

  private void fire(Timer timer) {
    timers.remove(timer);
    timer.task.run();
  }

  private long nextMoment() {
    long next = Long.MAX_VALUE;
    for (var strand : strands) {
      if (strand.isStarted() && !strand.machine.isFrozen) {
        next = Math.min(next, strand.wakeAt);
      }
    }
    for (var timer : timers) {
      if (!timer.machine.isFrozen) {
        next = Math.min(next, timer.at);
      }
    }
    return next;
  }

  private void resume(Strand strand) {
    var before = current;
    current = strand;
    isMainsTurn = false;
    strand.hasTurn = true;
    LockSupport.unpark(strand.thread);
    long since = System.nanoTime();
    while (!isMainsTurn) {
      LockSupport.parkNanos(this, PATIENCE.toNanos());
      if (!isMainsTurn && System.nanoTime() - since > PATIENCE.toNanos()) {
        var stuck = new IllegalStateException("A thread waits outside of the simulation");
        stuck.setStackTrace(strand.thread.getStackTrace());
        throw stuck;
      }
    }
    current = before;
    if (strand.hasEnded) {
      strands.remove(strand);
    }
    var failure = strand.failure;
    if (failure != null) {
      throw new IllegalStateException("A simulated thread failed", failure);
    }
  }

  /** A process, or the host of a store. */
  static final class Machine {
    final String name;
    boolean isFrozen;
    boolean isDead;

    Machine(String name) {
      this.name = name;
    }
  }

  /** A task that is scheduled for later. */
  static final class Timer {
    private final long at;
    private final long order;
    private final Machine machine;
    private final Runnable task;

    private Timer(long at, long order, Machine machine, Runnable task) {
      this.at = at;
      this.order = order;
      this.machine = machine;
      this.task = task;
    }

    private static int compare(Timer one, Timer other) {
      int byTime = Long.compare(one.at, other.at);
      return byTime != 0 ? byTime : Long.compare(one.order, other.order);
    }
  }

  void cancel(Timer timer) {
    timers.remove(timer);
  }

  /** A simulated thread with the condition that it waits for. */
  private final class Strand {
    private final Machine machine;

    @SuppressWarnings("NullAway.Init") // Set right after the constructor.
    private Thread thread;

    private volatile boolean hasTurn;
    private volatile boolean wasInterrupted;
    private volatile boolean hasEnded;
    private volatile @Nullable Throwable failure;
    private @Nullable BooleanSupplier isReady;
    private long wakeAt = Long.MAX_VALUE;
    private boolean isInterruptible;

    Strand(Machine machine) {
      this.machine = machine;
    }

    boolean isStarted() {
      return thread.getState() != Thread.State.NEW;
    }

    boolean isRunnable() {
      if (machine.isFrozen || !isStarted()) {
        return false;
      }
      var ready = isReady;
      return ready == null
          || wakeAt <= now
          || ready.getAsBoolean()
          || (isInterruptible && isInterrupted());
    }

    private boolean isInterrupted() {
      return wasInterrupted || thread.isInterrupted();
    }

    void live(Runnable task) {
      try {
        awaitTurn();
        task.run();
      } catch (Killed e) {
        // Its machine crashed.
      } catch (RuntimeException | Error e) {
        failure = e;
      } finally {
        hasEnded = true;
        giveTurnBack();
      }
    }

    void pause(BooleanSupplier ready, long until, boolean interruptible)
        throws InterruptedException {
      requireAlive();
      isReady = ready;
      wakeAt = until;
      isInterruptible = interruptible;
      giveTurnBack();
      awaitTurn();
      isReady = null;
      wakeAt = Long.MAX_VALUE;
      boolean interrupted = isInterrupted();
      wasInterrupted = false;
      Thread.interrupted();
      if (interrupted && interruptible) {
        throw new InterruptedException();
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    private void awaitTurn() {
      while (!hasTurn) {
        LockSupport.park(this);
        if (thread.isInterrupted()) {
          // In this order, so that every observer sees the interrupt.
          wasInterrupted = true;
          Thread.interrupted();
        }
      }
      hasTurn = false;
      requireAlive();
    }

    private void requireAlive() {
      if (machine.isDead) {
        throw new Killed();
      }
    }

    private void giveTurnBack() {
      isMainsTurn = true;
      LockSupport.unpark(main);
    }
  }
}
