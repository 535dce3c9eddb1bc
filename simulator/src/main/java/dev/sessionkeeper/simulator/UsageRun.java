package dev.sessionkeeper.simulator;

import dev.sessionkeeper.simulator.Tables.Mode;
import dev.sessionkeeper.testkit.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A model of registered sessions, the job that meters them, and the delivery of usage. Transactions
 * interleave at each statement; workers crash and freeze; the database's clock jumps for a while;
 * the receiver applies batches without answering.
 *
 * <p>It is a model of the protocol, not the product's code. Times are microseconds.
 */
final class UsageRun {
  private static final long SECOND = 1_000_000;
  private static final long INTERVAL = SECOND;
  private static final Duration LEASE = Duration.ofMillis(1200);
  private static final Duration ACTIVE = Duration.ofSeconds(10);
  private static final Duration QUIET = Duration.ofSeconds(40);
  private static final long MOST_STEPS = 100_000;

  private final World world;
  private final Tables tables;
  private final Trace trace;
  private final Random plan;
  private final Set<UsageBug> bugs;
  private final BitSet skipped;
  private final List<String> items = new ArrayList<>();
  private final List<Violation> violations = new ArrayList<>();
  private final List<World.Machine> workers = new ArrayList<>();
  private long clockOffset;
  private int callers;
  private int ids;
  private int handled;

  // The tables.
  private final Job job = new Job();
  private final Map<Integer, Session> sessions = new TreeMap<>();
  private final List<Entry> ledger = new ArrayList<>();
  private final Map<Integer, Batch> batches = new TreeMap<>();
  private final Lane lane = new Lane();

  // The receiver.
  private final Map<String, String> applied = new HashMap<>();
  private final Map<Integer, Long> received = new TreeMap<>();

  private static final class Job {
    long nextRun = INTERVAL;
    String owner = "";
    long epoch;
    long leaseUntil;
    long startedAt;
    long lastSlot;
  }

  private static final class Session {
    final int id;
    final int tenant;
    final int key;
    final long factor;
    final long start;
    final long expires;
    long end = Long.MAX_VALUE;
    long meteredThrough;
    boolean isClosed;

    Session(int id, int tenant, int key, long factor, long start, long expires) {
      this.id = id;
      this.tenant = tenant;
      this.key = key;
      this.factor = factor;
      this.start = start;
      this.expires = expires;
      this.meteredThrough = start;
    }

    /**
     * Returns the end of a session: the expiry if that is earlier, even before a sweep has ended
     * the session.
     */
    long endThatCounts() {
      return Math.min(end, expires);
    }
  }

  private record Entry(int session, long from, long to, long used, int batch) {}

  private static final class Batch {
    final int id;
    final List<Entry> rows;
    boolean isDelivered;
    int posts;

    Batch(int id, List<Entry> rows) {
      this.id = id;
      this.rows = rows;
    }
  }

  private static final class Lane {
    String owner = "";
    long epoch;
    long until;
  }

  private UsageRun(long seed, Set<UsageBug> bugs, boolean keepsTrace, BitSet skipped) {
    this.plan = new Random(seed * 0x9E3779B97F4A7C15L + 4);
    this.bugs = bugs;
    this.skipped = skipped;
    this.trace = new Trace(keepsTrace);
    this.world = new World(seed, trace);
    this.tables = new Tables(world, this::check);
  }

  static SimulationReport run(long seed, Set<UsageBug> bugs, boolean keepsTrace, BitSet skipped) {
    return new UsageRun(seed, bugs, keepsTrace, skipped).run();
  }

  private SimulationReport run() {
    int count = 1 + plan.nextInt(3);
    for (int i = 0; i < count; i++) {
      workers.add(new World.Machine("w" + i));
      begin(i, 0);
    }
    for (int i = 2 + plan.nextInt(3); i > 0; i--) {
      callers++;
      long seed = plan.nextLong();
      world.start(world.environment(), () -> call(new Random(seed)));
    }
    for (int i = plan.nextInt(5); i > 0; i--) {
      plan(plan.nextInt(count), plan.nextInt(3), plan.nextInt(4000), plan.nextInt(10_000));
    }
    world.run(
        () -> !violations.isEmpty() || isDone() || world.now() > ACTIVE.plus(QUIET).toNanos(),
        MOST_STEPS);
    if (violations.isEmpty()) {
      checkEnd();
    }
    world.end();
    return new SimulationReport(
        violations,
        world.steps(),
        handled,
        Duration.ofNanos(world.now()),
        trace.fingerprint(),
        items,
        trace.lines());
  }

  private void plan(int worker, int kind, int length, int at) {
    var what =
        switch (kind) {
          case 0 -> "worker %d crashes and is back after %d ms".formatted(worker, length);
          case 1 -> "worker %d stands still for %d ms".formatted(worker, length);
          default -> "the database's clock is an hour ahead for %d ms".formatted(length);
        };
    items.add("at %6d ms  %s".formatted(at, what));
    if (!skipped.get(items.size() - 1)) {
      world.after(
          Duration.ofMillis(at),
          world.environment(),
          () -> {
            world.note("world", what);
            fault(worker, kind, Duration.ofMillis(length));
          });
    }
  }

  private void fault(int worker, int kind, Duration length) {
    var machine = workers.get(worker);
    switch (kind) {
      case 0 -> {
        if (!machine.isDead) {
          world.kill(machine);
          world.after(length, world.environment(), () -> begin(worker, world.steps()));
        }
      }
      case 1 -> {
        machine.isFrozen = true;
        world.after(Duration.ofSeconds(1), world.environment(), () -> endIdle(machine));
        world.after(length, world.environment(), () -> machine.isFrozen = false);
      }
      default -> {
        if (clockOffset == 0 && isMetered()) {
          // Sessions that are open would be billed for the excursion: metering is held then, which
          // this model does not have. So it happens between sessions only.
          clockOffset = 3600 * SECOND;
          world.after(length, world.environment(), () -> clockOffset = 0);
        }
      }
    }
  }

  private void endIdle(World.Machine machine) {
    if (machine.isFrozen) {
      tables.endIdle(machine);
    }
  }

  private boolean isMetered() {
    return sessions.values().stream().allMatch(s -> s.isClosed);
  }

  private void begin(int worker, long life) {
    var machine = new World.Machine("w" + worker + (life == 0 ? "" : "." + life));
    workers.set(worker, machine);
    world.start(machine, () -> work(machine));
    world.start(machine, () -> deliver(machine));
  }

  /** The clock of the database. */
  private long now() {
    return world.now() / 1000 + clockOffset;
  }

  private Duration delay() {
    int micros = 200 + world.choices().nextInt(3000);
    return Duration.ofNanos(
        (micros + (world.choices().nextInt(40) == 0 ? world.choices().nextInt(400_000) : 0))
            * 1000L);
  }

  private void pause(Duration length) {
    world.await(() -> false, length);
  }

  private void broken(String invariant, String what) {
    violations.add(new Violation(invariant, what));
  }

  private <T> T transaction(World.Machine machine, Tables.Function<T> work) {
    return tables.transaction(machine, this::delay, work);
  }

  // Callers of the registry.

  private void call(Random random) {
    int calls = 2 + random.nextInt(4);
    for (int i = 0; i < calls; i++) {
      pause(Duration.ofMillis(random.nextInt(2500)));
      int tenant = random.nextInt(2);
      int key = random.nextInt(2);
      int kind = random.nextInt(4);
      long factor = 1L + random.nextInt(3);
      if (random.nextInt(3) == 0) {
        // The same request again, by another process at the same time.
        callers++;
        world.start(
            world.environment(),
            () -> {
              tryCall(1, tenant, key, factor);
              callers--;
            });
      }
      tryCall(kind, tenant, key, factor);
    }
    callers--;
  }

  private void tryCall(int kind, int tenant, int key, long factor) {
    try {
      switch (kind) {
        case 0 -> end(tenant, key);
        case 1 -> put(tenant, key, factor, true);
        default -> put(tenant, key, factor, false);
      }
    } catch (Tables.Broken e) {
      world.note("caller", e.getMessage() == null ? "broken" : e.getMessage());
    }
  }

  private @Nullable Session active(int tenant, int key) {
    for (var session : sessions.values()) {
      boolean isSameTenant = session.tenant == tenant || bugs.contains(UsageBug.TENANT_NOT_IN_KEY);
      if (isSameTenant && session.key == key && session.endThatCounts() > now()) {
        return session;
      }
    }
    return null;
  }

  private void put(int tenant, int key, long factor, boolean isUpgrade) {
    if (clockOffset != 0) {
      return;
    }
    if (bugs.contains(UsageBug.LOOKED_UP_BEFORE_INSERT)) {
      var before = active(tenant, key);
      pause(delay());
      if (before == null) {
        transaction(world.environment(), t -> insert(t, tenant, key, factor));
      }
      return;
    }
    transaction(
        world.environment(),
        t -> {
          t.statement();
          t.lock("key " + tenant + " " + key, Mode.EXCLUSIVE);
          t.statement();
          var before = active(tenant, key);
          if (before == null) {
            return insert(t, tenant, key, factor);
          }
          if (before.tenant != tenant) {
            broken("I14", "tenant " + tenant + " got the session of tenant " + before.tenant);
          }
          if (isUpgrade && before.factor != factor && clockOffset == 0) {
            long at = now();
            if (bugs.contains(UsageBug.UPGRADE_READS_CLOCK_TWICE)) {
              t.statement();
            }
            long begin = bugs.contains(UsageBug.UPGRADE_READS_CLOCK_TWICE) ? now() : at;
            t.lock("session " + before.id, Mode.EXCLUSIVE);
            long expires = begin + expiry();
            // The wait for the lock may have taken so long that metering or the end went past it.
            if (before.endThatCounts() <= at || before.meteredThrough > at || clockOffset != 0) {
              return true;
            }
            int id = ++ids;
            t.write(
                () -> {
                  before.end = at;
                  sessions.put(id, new Session(id, tenant, key, factor, begin, expires));
                  upgrades.put(id, before.id);
                  world.note("caller", "session " + before.id + " becomes " + id);
                });
          }
          return true;
        });
  }

  private final Map<Integer, Integer> upgrades = new HashMap<>();

  private long expiry() {
    return 300_000L + world.choices().nextInt(4_000_000);
  }

  private boolean insert(Tables.Transaction t, int tenant, int key, long factor) {
    if (clockOffset != 0) {
      return false; // The clock has jumped meanwhile.
    }
    long at = now();
    long expires = at + expiry();
    int id = ++ids;
    t.write(
        () -> {
          sessions.put(id, new Session(id, tenant, key, factor, at, expires));
          world.note("caller", "session " + id + " begins, factor " + factor);
        });
    return true;
  }

  private void end(int tenant, int key) {
    transaction(
        world.environment(),
        t -> {
          t.statement();
          t.lock("key " + tenant + " " + key, Mode.EXCLUSIVE);
          t.statement();
          var session = active(tenant, key);
          if (session != null && session.tenant == tenant) {
            t.lock("session " + session.id, Mode.EXCLUSIVE);
            // Never before what is metered already, nor behind its expiry.
            long at = Math.max(now(), session.meteredThrough);
            t.write(() -> session.end = at);
          }
          return true;
        });
  }

  // The job.

  private static final class Run {
    final long epoch;
    final long slot;
    boolean isLost;
    long deadline;

    Run(long epoch, long slot, long deadline) {
      this.epoch = epoch;
      this.slot = slot;
      this.deadline = deadline;
    }
  }

  private void work(World.Machine machine) {
    while (true) {
      pause(Duration.ofMillis(100 + world.choices().nextInt(100)));
      try {
        long sent = world.now();
        var run = transaction(machine, t -> acquire(t, machine, sent));
        if (run.isPresent()) {
          meter(machine, run.get());
        }
      } catch (Tables.Broken e) {
        world.note(machine.name, e.getMessage() == null ? "broken" : e.getMessage());
      }
    }
  }

  private Optional<Run> acquire(Tables.Transaction t, World.Machine machine, long sent) {
    t.statement();
    // A transaction of the former owner that is under way keeps the fence, and the job with it.
    if (!t.tryLock("job") || !t.tryLock("job fence")) {
      return Optional.empty();
    }
    if (job.nextRun > now() + INTERVAL && !bugs.contains(UsageBug.JOB_STAYS_AHEAD_OF_CLOCK)) {
      // Planned while the clock was ahead: the job follows the clock back.
      long back = now() / INTERVAL * INTERVAL + INTERVAL;
      t.write(() -> job.nextRun = back);
      return Optional.empty();
    }
    long longest = now() + LEASE.toNanos() / 1000;
    if (job.leaseUntil > longest && !bugs.contains(UsageBug.JOB_STAYS_AHEAD_OF_CLOCK)) {
      t.write(() -> job.leaseUntil = longest);
      return Optional.empty();
    }
    boolean isFree = job.owner.isEmpty() || job.leaseUntil < now();
    if (!isFree || job.nextRun > now()) {
      return Optional.empty();
    }
    long epoch = job.epoch + 1;
    // The slots that were missed are covered by one run.
    long slot = now() / INTERVAL * INTERVAL;
    long at = now();
    t.write(
        () -> {
          job.owner = machine.name;
          job.epoch = epoch;
          job.startedAt = at;
          job.leaseUntil = at + LEASE.toNanos() / 1000;
          world.note(machine.name, "takes slot " + slot / INTERVAL + " under epoch " + epoch);
        });
    return Optional.of(new Run(epoch, slot, sent + LEASE.toNanos()));
  }

  private void meter(World.Machine machine, Run run) {
    world.start(machine, () -> renew(machine, run));
    try {
      while (isHeld(run) && chunk(machine, run)) {
        pause(
            Duration.ofMillis(
                world.choices().nextInt(world.choices().nextInt(10) == 0 ? 2000 : 50)));
      }
      if (isHeld(run)) {
        complete(machine, run);
      }
      if (run.isLost && bugs.contains(UsageBug.LATE_FAILURE_RELEASES)) {
        release(machine, run);
      }
    } finally {
      run.isLost = true;
    }
  }

  /** Releases the job without a look at its owner: a bug. */
  private void release(World.Machine machine, Run run) {
    transaction(
        machine,
        t -> {
          t.statement();
          t.lock("job", Mode.EXCLUSIVE);
          t.write(
              () -> {
                if (!job.owner.isEmpty() && !isMine(machine, run)) {
                  broken("I11", "epoch " + run.epoch + " released the run of " + job.epoch);
                }
                job.owner = "";
              });
          return true;
        });
  }

  private boolean isHeld(Run run) {
    return bugs.contains(UsageBug.COMPLETION_NOT_FENCED)
        || (!run.isLost && world.now() < run.deadline);
  }

  private void renew(World.Machine machine, Run run) {
    while (!run.isLost) {
      pause(LEASE.dividedBy(3));
      if (run.isLost) {
        return;
      }
      long sent = world.now();
      try {
        boolean isMine =
            transaction(
                machine,
                t -> {
                  t.statement();
                  t.lock("job", Mode.EXCLUSIVE);
                  boolean mine = isMine(machine, run) && job.leaseUntil >= now();
                  if (mine) {
                    t.write(
                        () -> {
                          job.leaseUntil = now() + LEASE.toNanos() / 1000;
                          if (bugs.contains(UsageBug.NEXT_RUN_FROM_HEARTBEAT)) {
                            job.startedAt = now();
                          }
                        });
                  }
                  return mine;
                });
        if (isMine) {
          run.deadline = sent + LEASE.toNanos();
        } else {
          run.isLost = true;
        }
      } catch (Tables.Broken e) {
        world.note(machine.name, "no renewal");
      }
    }
  }

  private boolean isMine(World.Machine machine, Run run) {
    return job.owner.equals(machine.name) && job.epoch == run.epoch;
  }

  /** Meters some sessions. Returns whether there may be more. */
  private boolean chunk(World.Machine machine, Run run) {
    var written =
        transaction(
            machine,
            t -> {
              t.statement();
              t.lock("job fence", Mode.SHARED);
              if (!isMine(machine, run)) {
                run.isLost = true;
                return false;
              }
              t.statement();
              if (clockOffset != 0 || run.slot > now()) {
                return false; // Metering is held while the clock is not to be trusted.
              }
              var used = new ArrayList<Entry>();
              var moved = new ArrayList<Runnable>();
              int batch = ++ids;
              for (var session : sessions.values()) {
                boolean isDue =
                    !session.isClosed
                        && session.meteredThrough < Math.min(run.slot, session.endThatCounts());
                boolean isForgotten =
                    bugs.contains(UsageBug.ENDED_SESSIONS_FORGOTTEN)
                        && session.endThatCounts() <= now();
                if (isDue
                    && !isForgotten
                    && used.size() < 2
                    && t.tryLock("session " + session.id)) {
                  slice(session, run, batch, used, moved);
                }
              }
              if (used.isEmpty()) {
                return false;
              }
              t.write(
                  () -> {
                    ledger.addAll(used);
                    batches.put(batch, new Batch(batch, List.copyOf(used)));
                    handled += used.size();
                    world.note(machine.name, "meters " + used);
                  });
              if (bugs.contains(UsageBug.WATERMARK_APART)) {
                apart.addAll(moved);
              } else {
                moved.forEach(t::write);
              }
              return true;
            });
    if (!apart.isEmpty()) {
      var moves = List.copyOf(apart);
      apart.clear();
      transaction(
          machine,
          t -> {
            t.statement();
            moves.forEach(t::write);
            return true;
          });
    }
    return written;
  }

  private final List<Runnable> apart = new ArrayList<>();

  private void slice(Session session, Run run, int batch, List<Entry> used, List<Runnable> moved) {
    long end = bugs.contains(UsageBug.BILLED_AFTER_END) ? session.end : session.endThatCounts();
    long from =
        bugs.contains(UsageBug.WHOLE_INTERVAL_BILLED)
            ? run.slot - INTERVAL
            : session.meteredThrough;
    long to = Math.min(run.slot, end);
    long length = to - from;
    if (bugs.contains(UsageBug.SLICES_ROUNDED)) {
      length = length / 1000 * 1000;
    }
    used.add(new Entry(session.id, from, to, length * session.factor, batch));
    moved.add(
        () -> {
          session.meteredThrough =
              bugs.contains(UsageBug.END_READ_TWICE) ? Math.min(now(), end) : to;
          session.isClosed = session.meteredThrough >= session.endThatCounts();
        });
  }

  private void complete(World.Machine machine, Run run) {
    transaction(
        machine,
        t -> {
          t.statement();
          t.lock("job", Mode.EXCLUSIVE);
          t.lock("job fence", Mode.EXCLUSIVE);
          if (!isMine(machine, run) && !bugs.contains(UsageBug.COMPLETION_NOT_FENCED)) {
            run.isLost = true;
            return false;
          }
          if (bugs.contains(UsageBug.NEVER_COMPLETED)) {
            return false;
          }
          t.write(
              () -> {
                if (!isMine(machine, run)) {
                  broken("I11", "epoch " + run.epoch + " completed the run of " + job.epoch);
                }
                if (run.slot <= job.lastSlot && clockOffset == 0 && job.lastSlot < now()) {
                  broken("I11", "slot " + run.slot / INTERVAL + " was completed again");
                }
                job.owner = "";
                job.lastSlot = run.slot;
                job.nextRun =
                    bugs.contains(UsageBug.NEXT_RUN_FROM_HEARTBEAT)
                        ? job.startedAt + INTERVAL
                        : run.slot + INTERVAL;
                if (job.nextRun % INTERVAL != 0) {
                  broken("I11", "the next run is at " + job.nextRun + ", beside the grid");
                }
              });
          return true;
        });
  }

  // Delivery.

  private void deliver(World.Machine machine) {
    while (true) {
      pause(Duration.ofMillis(100 + world.choices().nextInt(150)));
      try {
        long epoch = transaction(machine, t -> claimLane(t, machine));
        while (epoch > 0 && deliverNext(machine, epoch)) {
          pause(Duration.ofMillis(1));
        }
      } catch (Tables.Broken e) {
        world.note(machine.name, "delivery stops");
      }
    }
  }

  private Long claimLane(Tables.Transaction t, World.Machine machine) {
    t.statement();
    boolean isDue = batches.values().stream().anyMatch(b -> !b.isDelivered);
    long longest = now() + LEASE.toNanos() / 1000;
    boolean isHeld = !lane.owner.isEmpty() && lane.until > now();
    if (!isDue || !t.tryLock("lane")) {
      return 0L;
    }
    if (isHeld) {
      if (lane.until > longest) {
        t.write(() -> lane.until = longest);
      }
      return 0L;
    }
    long epoch = lane.epoch + 1;
    t.write(
        () -> {
          lane.owner = machine.name;
          lane.epoch = epoch;
          lane.until = now() + LEASE.toNanos() / 1000;
        });
    return epoch;
  }

  private boolean deliverNext(World.Machine machine, long epoch) {
    var next = batches.values().stream().filter(b -> !b.isDelivered).findFirst();
    if (next.isEmpty()) {
      return false;
    }
    var batch = next.get();
    batch.posts++;
    if (!post(batch)) {
      return false;
    }
    return transaction(
        machine,
        t -> {
          t.statement();
          t.lock("lane", Mode.EXCLUSIVE);
          if (lane.epoch != epoch) {
            return false;
          }
          t.write(
              () -> {
                batch.isDelivered = true;
                lane.until = now() + LEASE.toNanos() / 1000;
              });
          return true;
        });
  }

  /** Returns whether the receiver answered that it has the batch. */
  private boolean post(Batch batch) {
    var key =
        bugs.contains(UsageBug.NEW_KEY_FOR_EVERY_POST)
            ? batch.id + "-" + batch.posts
            : String.valueOf(batch.id);
    var rows =
        bugs.contains(UsageBug.BODY_BUILT_ANEW)
            ? ledger.stream()
                .filter(e -> e.session == batch.rows.get(0).session && e.batch >= batch.id)
                .toList()
            : batch.rows;
    int fate = world.choices().nextInt(10);
    pause(delay());
    if (fate == 0) {
      return false; // Lost on the way.
    }
    receive(key, rows);
    if (fate == 1) {
      receive(key, rows); // Repeated by a proxy.
    }
    pause(delay());
    return fate > 3; // 500, or a timeout, after it was applied.
  }

  private void receive(String key, List<Entry> rows) {
    var before = applied.putIfAbsent(key, rows.toString());
    if (before == null) {
      rows.forEach(row -> received.merge(row.session, row.used, Long::sum));
    } else if (!before.equals(rows.toString())) {
      broken("I12", "batch " + key + " came again with other bytes");
    }
  }

  // Checks.

  private void check() {
    for (var one : sessions.values()) {
      for (var other : sessions.values()) {
        boolean isSameKey = one.id < other.id && one.tenant == other.tenant && one.key == other.key;
        if (isSameKey && one.start < other.endThatCounts() && other.start < one.endThatCounts()) {
          broken("I6", "sessions %d and %d of one key overlap".formatted(one.id, other.id));
        }
      }
    }
    upgrades.forEach(
        (after, before) -> {
          var old = sessions.get(before);
          var young = sessions.get(after);
          if (old != null && young != null && old.endThatCounts() != young.start) {
            broken(
                "I6",
                "the upgrade of session %d leaves %d µs open"
                    .formatted(before, young.start - old.endThatCounts()));
          }
        });
    var billed = new HashMap<Integer, Long>();
    ledger.forEach(entry -> billed.merge(entry.session, entry.used, Long::sum));
    billed.forEach(
        (id, used) -> {
          var session = sessions.get(id);
          if (session == null) {
            return;
          }
          long most = Math.min(session.endThatCounts(), Math.max(now(), session.meteredThrough));
          if (used > Math.max(0, most - session.start) * session.factor) {
            broken(
                "I5",
                "session %d was billed %d, and lasted %d"
                    .formatted(id, used, (most - session.start) * session.factor));
          }
        });
  }

  private boolean isDone() {
    return world.now() > ACTIVE.toNanos()
        && callers == 0
        && sessions.values().stream().allMatch(s -> s.isClosed && s.endThatCounts() <= now())
        && batches.values().stream().allMatch(b -> b.isDelivered)
        && isReceived();
  }

  private boolean isReceived() {
    return sessions.values().stream()
        .allMatch(s -> received.getOrDefault(s.id, 0L) == (s.endThatCounts() - s.start) * s.factor);
  }

  private void checkEnd() {
    for (var session : sessions.values()) {
      long lasted = (session.endThatCounts() - session.start) * session.factor;
      long got = received.getOrDefault(session.id, 0L);
      if (got != lasted) {
        broken(
            "I5",
            "session %d lasted %d, and the receiver has %d".formatted(session.id, lasted, got));
      }
    }
    if (violations.isEmpty() && job.lastSlot == 0) {
      broken("I11", "no run of the job was ever completed");
    }
    if (violations.isEmpty() && !isDone()) {
      broken(
          "I11", "the job does not come to its end: next run at " + job.nextRun + " of " + now());
    }
  }
}
