package dev.sessionkeeper.jobs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scheduled work that one node runs at a time.
 *
 * {@snippet :
 * Jobs.migrate(dataSource);
 * try (var jobs = Jobs.create(dataSource)) {
 *   jobs.register("usage-emission", Schedule.every(Duration.ofMinutes(1)), context -> emit(context));
 *   jobs.start();
 * }
 * }
 *
 * <p>All nodes register the same jobs. A due job is taken by one statement, kept by renewals, and
 * released when its run ends; a node that dies is replaced within the lease and a poll. Only the
 * clock of the database decides. docs/explanation/jobs.md has the protocol.
 *
 * <p>Threads: all methods may be called from any thread. Each run has a virtual thread of its own.
 */
public final class Jobs implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Jobs.class);
  private static final Duration GRACE = Duration.ofMillis(400);
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,62}");

  private final JobOptions options;
  private final JobLeases leases;
  private final JobTable table;
  private final CorrectForClock clock;
  private final RenewLeases renewals;
  private final ReportProgress progress;
  private final Map<String, RunJob.Registered> registered = new ConcurrentHashMap<>();
  private final Map<String, RunJob> running = new ConcurrentHashMap<>();
  private final Object pollLock = new Object();
  private TimeSource.@Nullable Timer nextPoll;
  private volatile boolean open;
  private boolean closed;
  private boolean unreachable;

  private Jobs(DataSource work, DataSource lease, JobOptions options) {
    this.options = options;
    var database = Database.of(work);
    this.leases = new JobLeases(database, options);
    this.clock = new CorrectForClock(database, options);
    this.table = new JobTable(database, clock);
    this.renewals = new RenewLeases(lease, leases, options);
    this.progress = new ReportProgress(database, options);
  }

  /** Migrates the tables. */
  public static void migrate(DataSource source) {
    Migrations.apply(source, "store");
    Migrations.apply(source, "jobs");
  }

  public static Jobs create(DataSource source) {
    return create(source, source, JobOptions.defaults());
  }

  /**
   * Creates the jobs of this node with options.
   *
   * @param work for the transactions of the runs; may be a pool
   * @param lease for one permanent connection for renewals, preferably outside that pool
   */
  public static Jobs create(DataSource work, DataSource lease, JobOptions options) {
    return new Jobs(work, lease, options);
  }

  /**
   * Registers the work of a job. Creates the job if no node has registered it before; a new job
   * first runs at the next slot of its schedule.
   */
  public Jobs register(String name, Schedule schedule, JobTask task) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "A job's name has 1 to 63 lower-case letters, digits and hyphens, was " + name);
    }
    if (registered.putIfAbsent(name, new RunJob.Registered(schedule, task)) != null) {
      throw new IllegalArgumentException("The job " + name + " is registered already");
    }
    leases.register(name, schedule);
    return this;
  }

  /** Begins to poll for due jobs. */
  public void start() {
    synchronized (pollLock) {
      if (!open) {
        open = true;
        log.info("Jobs of this process run as {}", options.owner());
        renewals.start();
        schedulePoll(Duration.ZERO);
      }
    }
  }

  private void schedulePoll(Duration delay) {
    synchronized (pollLock) {
      if (open) {
        nextPoll = options.time().schedule(delay, () -> Thread.startVirtualThread(this::poll));
      }
    }
  }

  private void poll() {
    try {
      for (var name : due()) {
        if (open && !running.containsKey(name)) {
          take(name);
        }
      }
      unreachable = false;
    } catch (KeeperException e) {
      if (!unreachable) {
        log.warn("Cannot poll for due jobs; trying again every {}", options.poll(), e);
      }
      unreachable = true;
    } catch (RuntimeException e) {
      log.error("Looking for due jobs failed; trying again in {}", options.poll(), e);
    } finally {
      schedulePoll(options.nextPoll());
    }
  }

  private List<String> due() {
    var look = table.look(registered.keySet());
    if (!look.isClockBack()) {
      return look.due();
    }
    for (var name : clock.follow()) {
      log.warn(
          "The database's clock was set back: job {} was planned ahead of it and follows it now",
          name);
      tell(new JobEvent.ClockCorrected(name));
    }
    return table.look(registered.keySet()).due();
  }

  private void take(String name) {
    var job = Optional.ofNullable(registered.get(name)).orElseThrow();
    var claim = leases.acquire(name, job.schedule());
    if (claim.isEmpty()) {
      tell(new JobEvent.Contended(name));
      return;
    }
    begin(claim.get(), job);
  }

  private void begin(Claim claim, RunJob.Registered job) {
    claim
        .formerOwner()
        .ifPresent(
            from ->
                log.warn(
                    "{} takes job {} over from {} under epoch {}: the lease ran out in a run",
                    options.owner(),
                    claim.job(),
                    from,
                    epoch(claim)));
    tell(
        claim
            .formerOwner()
            .<JobEvent>map(from -> new JobEvent.TakenOver(claim.job(), epoch(claim), from))
            .orElseGet(() -> new JobEvent.Acquired(claim.job(), epoch(claim))));
    if (claim.slot().dropped() > 0) {
      tell(new JobEvent.SlotsDropped(claim.job(), claim.slot().dropped()));
    }
    var held = new HeldLease(claim, options.time(), options.trusted());
    Consumer<JobEvent> events = this::tell;
    var run = new RunJob(claim, job, held, leases, options, events, progress.of(claim));
    running.put(claim.job(), run);
    renewals.keep(held);
    if (!open) {
      // This node was closed while it claimed the job: no caller waits for the run any more.
      run.handOver();
      running.remove(claim.job(), run);
      return;
    }
    Thread.ofVirtual()
        .name("keeper-job-" + claim.job())
        .start(
            () -> {
              try {
                run.run();
              } finally {
                renewals.letGo(held);
                running.remove(claim.job(), run);
              }
            });
  }

  private static long epoch(Claim claim) {
    return claim.lease().epoch();
  }

  private void tell(JobEvent event) {
    try {
      options.listener().accept(event);
    } catch (RuntimeException e) {
      log.error("A listener failed on {}", event, e);
    }
  }

  /** Returns all jobs of the table, by name. */
  public List<JobView> views() {
    return table.views(Optional.empty());
  }

  public Optional<JobView> view(String name) {
    return table.views(Optional.of(name)).stream().findFirst();
  }

  /**
   * The state of a job for metrics, by the clock of the database.
   *
   * @param sinceSuccess since its last run that ended well; before the first one, since the job is
   *     known
   * @param running for how long its lease is held; zero while no run holds it
   */
  public record Status(
      String job, Duration interval, boolean paused, Duration sinceSuccess, Duration running) {}

  /** Returns the state of each job, for metrics. */
  public List<Status> statuses() {
    return table.statuses();
  }

  /** Returns the newest runs of a job, newest first. */
  public List<JobRun> history(String name, int limit) {
    return table.history(name, limit);
  }

  /**
   * Requests a run at the next poll of any node, even if the job is paused. Returns false if the
   * job is unknown.
   */
  public boolean requestRun(String name) {
    return table.request(name, Optional.empty());
  }

  /**
   * Requests a run as {@link #requestRun(String)} does, with an audit entry in the same
   * transaction.
   */
  public boolean requestRun(String name, Actor actor) {
    return table.request(name, Optional.of(actor));
  }

  /** Pauses the schedule. A run that has begun continues. */
  public boolean pause(String name, Actor actor) {
    return table.pause(name, Optional.of(actor));
  }

  /** Resumes the schedule, and repeats at once an attempt that waits after a failure. */
  public boolean resume(String name, Actor actor) {
    return table.resume(name, Optional.of(actor));
  }

  /** Closes with 400 ms of grace for running jobs. */
  @Override
  public void close() {
    close(GRACE);
  }

  /**
   * Takes no more jobs, asks the running ones to end, and releases those that do not end within the
   * grace: another node takes them at its next poll.
   */
  public void close(Duration grace) {
    synchronized (pollLock) {
      if (closed) {
        return;
      }
      closed = true;
      open = false;
      if (nextPoll != null) {
        nextPoll.cancel();
      }
    }
    var runs = List.copyOf(running.values());
    runs.forEach(RunJob::stop);
    long started = options.time().nanoTime();
    try {
      for (var run : runs) {
        if (!run.awaitEnd(grace.minus(options.time().since(started)))) {
          run.handOver();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      runs.forEach(RunJob::handOver);
    }
    renewals.close();
    progress.close();
  }
}
