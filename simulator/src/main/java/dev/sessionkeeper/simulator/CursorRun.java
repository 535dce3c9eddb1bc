package dev.sessionkeeper.simulator;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.LastValueStore;
import dev.sessionkeeper.coalescing.Outcome;
import dev.sessionkeeper.coalescing.WriterOptions;
import dev.sessionkeeper.cursors.CursorKey;
import dev.sessionkeeper.cursors.Cursors;
import dev.sessionkeeper.cursors.EventTracker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Subscribers that acknowledge events, through the product's cursors and coalescing writer, in
 * processes that crash, freeze and close, on a modelled store that is slow and loses answers.
 */
final class CursorRun {
  private static final Duration ACTIVE = Duration.ofSeconds(6);
  private static final Duration DEADLINE = Duration.ofSeconds(4);
  private static final Duration ON_THE_WAY = Duration.ofMillis(6);
  private static final long MOST_STEPS = 100_000;

  private final World world;
  private final Trace trace;
  private final Random plan;
  private final Set<CursorBug> bugs;
  private final Referee referee = new Referee();
  private final Store store;
  private final List<Host> processes = new ArrayList<>();
  private final Map<String, LastValueStore.Entry<String, String>> stored = new TreeMap<>();
  private Map<String, LastValueStore.Entry<String, String>> durable = new TreeMap<>();
  private final Map<String, TreeSet<Long>> acknowledged = new HashMap<>();
  private final Map<String, Connection> lastConnection = new HashMap<>();
  private final Map<String, Long> toldSaved = new HashMap<>();
  private int subscribers;
  private int handled;
  private int closed;

  private final BitSet skipped;
  private final List<String> items = new ArrayList<>();

  private CursorRun(long seed, Set<CursorBug> bugs, boolean keepsTrace, BitSet skipped) {
    this.skipped = skipped;
    this.plan = new Random(seed * 0x9E3779B97F4A7C15L + 3);
    this.bugs = bugs;
    this.trace = new Trace(keepsTrace);
    this.world = new World(seed, trace);
    this.store =
        new Store(world, new QueueTables(Set.of(), referee, Duration.ofSeconds(1), 1), referee);
  }

  static SimulationReport run(long seed, Set<CursorBug> bugs, boolean keepsTrace, BitSet skipped) {
    return new CursorRun(seed, bugs, keepsTrace, skipped).run();
  }

  private SimulationReport run() {
    store.loses(plan.nextInt(3) == 0 ? plan.nextInt(80) : 0);
    int count = 1 + plan.nextInt(2);
    for (int i = 0; i < count; i++) {
      processes.add(new Host(i));
    }
    subscribers = 1 + plan.nextInt(3);
    for (int i = 0; i < subscribers; i++) {
      var subscriber = new Subscriber("reader-" + i, 5 + plan.nextInt(40));
      world.start(world.environment(), subscriber::read);
    }
    for (int i = plan.nextInt(4); i > 0; i--) {
      var process = processes.get(plan.nextInt(count));
      int kind = plan.nextInt(4);
      var length = Duration.ofMillis(plan.nextInt(2500));
      var at = Duration.ofMillis(plan.nextLong(ACTIVE.toMillis()));
      items.add(describe(process, kind, length, at));
      if (!skipped.get(items.size() - 1)) {
        world.after(at, world.environment(), () -> fault(process, kind, length));
      }
    }
    var outage = Duration.ofSeconds(plan.nextInt(3) == 0 ? 6 : 0);
    if (!outage.isZero()) {
      items.add("at the end  the store is down while the processes close");
    }
    boolean isOver = world.run(() -> !referee.isContent() || subscribers == 0, MOST_STEPS);
    if (referee.isContent() && !isOver) {
      referee.broken("I9", "the subscribers do not come to their end");
    }
    if (referee.isContent()) {
      store.loses(0);
      if (!outage.isZero() && !skipped.get(items.size() - 1)) {
        store.down(true);
        world.after(outage, world.environment(), () -> store.down(false));
      }
      processes.forEach(process -> world.start(process.machine, process::close));
      world.run(() -> closed == processes.size() || !referee.isContent(), MOST_STEPS);
      checkEnd();
    }
    world.end();
    return new SimulationReport(
        referee.violations(),
        world.steps(),
        handled,
        Duration.ofNanos(world.now()),
        trace.fingerprint(),
        items,
        trace.lines());
  }

  private static String describe(Host process, int kind, Duration length, Duration at) {
    var what =
        switch (kind) {
          case 0 -> "process %d crashes".formatted(process.number);
          case 1 -> "process %d freezes for %d ms".formatted(process.number, length.toMillis());
          case 2 -> "the store is down for %d ms".formatted(length.toMillis());
          default -> "the link of process %d becomes slow, or fast again".formatted(process.number);
        };
    return "at %6d ms  %s".formatted(at.toMillis(), what);
  }

  private void fault(Host process, int kind, Duration length) {
    switch (kind) {
      case 0 -> {
        world.note(process.machine.name, "crashes");
        process.restart();
      }
      case 1 -> {
        world.note(process.machine.name, "freezes for " + length.toMillis() + " ms");
        var frozen = process.machine;
        frozen.isFrozen = true;
        process.thawsAt = world.now() + length.toNanos();
        world.after(length, world.environment(), () -> frozen.isFrozen = false);
      }
      case 2 -> {
        world.note("store", "crashes");
        store.down(true);
        if (bugs.contains(CursorBug.ANSWERED_BEFORE_DURABLE)) {
          stored.clear();
          stored.putAll(durable);
        }
        world.after(length, world.environment(), () -> store.down(false));
      }
      default -> process.link.slowness = process.link.slowness == 1 ? 30 : 1;
    }
  }

  /** Checks I3 and I7: saved values are stored, and no acknowledged event is missing. */
  private void checkEnd() {
    lastConnection.forEach(
        (key, connection) -> {
          long at = positionOf(key);
          boolean isSaved =
              connection.process.isSaved && connection.machine.equals(connection.process.machine);
          if (isSaved && at < connection.point()) {
            referee.broken(
                "I7",
                "the cursor of %s is %d, but event %d was acknowledged"
                    .formatted(key, at, connection.point()));
          }
        });
    toldSaved.forEach(
        (key, event) -> {
          if (positionOf(key) < event) {
            referee.broken(
                "I3",
                "the cursor of %s is %d, but %d was called saved"
                    .formatted(key, positionOf(key), event));
          }
        });
  }

  private long positionOf(String key) {
    var entry = stored.get(key);
    return entry == null ? 0 : entry.version();
  }

  /** The events that a process took from one subscriber in one connection. */
  private static final class Connection {
    final Host process;
    final World.Machine machine;
    final long from;
    final TreeSet<Long> taken = new TreeSet<>();

    Connection(Host process, World.Machine machine, long from) {
      this.process = process;
      this.machine = machine;
      this.from = from;
    }

    /** Returns the last event without a gap before it. */
    long point() {
      long point = from;
      while (taken.contains(point + 1)) {
        point++;
      }
      return point;
    }
  }

  private static long contiguous(Set<Long> events) {
    long last = 0;
    while (events.contains(last + 1)) {
      last++;
    }
    return last;
  }

  /** Executes the store's statement. */
  private List<LastValueStore.Result> write(List<LastValueStore.Entry<String, String>> entries) {
    var results = new ArrayList<LastValueStore.Result>();
    for (var entry : entries) {
      var before = stored.get(entry.key());
      long old = before == null ? 0 : before.version();
      if (entry.version() <= old && !bugs.contains(CursorBug.OLDER_OVERWRITES)) {
        results.add(LastValueStore.Result.SUPERSEDED);
        continue;
      }
      if (entry.version() < old) {
        referee.broken(
            "I7",
            "the cursor of %s went back from %d to %d"
                .formatted(entry.key(), old, entry.version()));
      }
      long known = contiguous(acknowledged.getOrDefault(entry.key(), new TreeSet<>()));
      if (entry.version() > known) {
        referee.broken(
            "I7",
            "the cursor of %s is %d, but only %d was acknowledged"
                .formatted(entry.key(), entry.version(), known));
      }
      stored.put(entry.key(), entry);
      results.add(LastValueStore.Result.WRITTEN);
    }
    if (bugs.contains(CursorBug.ANSWERED_BEFORE_DURABLE)) {
      var now = new TreeMap<>(stored);
      world.after(Duration.ofMillis(300), world.environment(), () -> durable = now);
    }
    return results;
  }

  /** A process with one writer for all its subscribers. */
  private final class Host {
    private final int number;
    private int lives;
    private World.Machine machine;
    private Link link;
    private CoalescingWriter<String, String> writer;
    private Cursors cursors;
    private boolean isSaved;
    private boolean isClosing;
    private long thawsAt;

    Host(int number) {
      this.number = number;
      this.machine = new World.Machine("p" + number);
      this.link = new Link(world, machine, store, Set.of());
      var remote = new RemoteStore(link);
      this.writer = writer(machine, remote);
      this.cursors = Cursors.of(remote, writer, new SimulatedTime(world, machine, Duration.ZERO));
    }

    private CoalescingWriter<String, String> writer(World.Machine of, RemoteStore remote) {
      var threads = world.threads(of);
      var options =
          WriterOptions.ofDefaults()
              .withStripes(1 + plan.nextInt(2))
              .withBatchSize(1 + plan.nextInt(4))
              .withRetry(
                  RetryPolicy.forStore(
                      bugs.contains(CursorBug.DROPPED_AFTER_RETRIES) ? 2 : Integer.MAX_VALUE));
      return CoalescingWriter.builder(remote)
          .options(options)
          .time(new SimulatedTime(world, of, Duration.ZERO))
          .random(new Random(plan.nextLong()))
          .executor(task -> threads.newThread(task).start())
          .build();
    }

    void restart() {
      world.kill(machine);
      machine = new World.Machine("p" + number + "." + ++lives);
      int slowness = link.slowness;
      link = new Link(world, machine, store, Set.of());
      link.slowness = slowness;
      var remote = new RemoteStore(link);
      writer = writer(machine, remote);
      cursors = Cursors.of(remote, writer, new SimulatedTime(world, machine, Duration.ZERO));
    }

    void close() {
      isClosing = true;
      long began = world.now();
      if (bugs.contains(CursorBug.CLOSE_FORGETS)) {
        isSaved = true;
        var gone = machine;
        world.after(
            Duration.ZERO,
            world.environment(),
            () -> {
              world.kill(gone);
              closed++;
            });
        return;
      }
      var deadline =
          bugs.contains(CursorBug.CLOSE_WAITS_FOR_STORE) ? DEADLINE.multipliedBy(100) : DEADLINE;
      var report = writer.closeAsync(deadline).toCompletableFuture();
      world.await(report::isDone, DEADLINE.plusSeconds(1));
      // A process that is frozen meanwhile cannot keep a deadline.
      var allowed = DEADLINE.plusMillis(500).plusNanos(Math.max(0, thawsAt - began));
      world.await(report::isDone, allowed);
      if (!report.isDone() || world.now() - began > allowed.toNanos()) {
        referee.broken("I10", machine.name + " did not close within " + DEADLINE);
      } else {
        isSaved = report.join().isComplete();
      }
      closed++;
    }
  }

  /** A store on the other side of a link. */
  private final class RemoteStore implements LastValueStore<String, String> {
    private final Link link;
    private boolean isWorkerDead;

    RemoteStore(Link link) {
      this.link = link;
    }

    @Override
    public List<Result> write(List<Entry<String, String>> entries) {
      if (isWorkerDead) {
        return Collections.nCopies(entries.size(), Result.WRITTEN);
      }
      try {
        return link.call("write " + entries, () -> CursorRun.this.write(entries));
      } catch (KeeperException e) {
        isWorkerDead = bugs.contains(CursorBug.WORKER_DIES);
        throw e;
      }
    }

    @Override
    public void setAside(Entry<String, String> entry, String cause) {
      world.note("store", "sets aside " + entry);
    }

    @Override
    public Optional<Entry<String, String>> read(String key) {
      return link.call("read " + key, () -> Optional.ofNullable(stored.get(key)));
    }
  }

  /** Reads a stream to its end, through one process after the other. */
  private final class Subscriber {
    private final CursorKey key;
    private final String text;
    private final long last;

    Subscriber(String name, long last) {
      this.key = new CursorKey("stream", name);
      this.text = "stream/" + name;
      this.last = last;
      acknowledged.put(text, new TreeSet<>());
    }

    void read() {
      long at = 0;
      while (at < last) {
        var process = processes.get(world.choices().nextInt(processes.size()));
        at = connect(process);
        if (at < last) {
          world.await(() -> false, Duration.ofMillis(20 + world.choices().nextInt(200)));
        }
      }
      subscribers--;
    }

    /** Makes one connection; returns the last event without a gap before it. */
    private long connect(Host process) {
      var machine = process.machine;
      var position = new long[] {-1};
      world.start(machine, () -> position[0] = position(process));
      world.await(() -> position[0] >= 0, Duration.ofSeconds(2));
      if (position[0] < 0) {
        return contiguous(events());
      }
      long known = contiguous(events());
      if (position[0] > known) {
        referee.broken("I7", text + " would resume behind event " + position[0]);
      }
      var connection = new Connection(process, machine, position[0]);
      lastConnection.put(text, connection);
      var tracker = process.cursors.track(key, position[0]);
      int most = 1 + world.choices().nextInt(15);
      var inHand = new ArrayList<Long>();
      for (long event = position[0] + 1; event <= last && most-- > 0; event++) {
        inHand.add(event);
        if (bugs.contains(CursorBug.MOVES_AHEAD_OF_ACKNOWLEDGEMENT)) {
          long sent = event;
          world.after(Duration.ZERO, machine, () -> tracker.acknowledge(sent));
        }
        world.await(() -> false, Duration.ofMillis(world.choices().nextInt(60)));
        if (inHand.size() >= 1 + world.choices().nextInt(3) || event == last) {
          acknowledge(connection, tracker, inHand);
        }
        if (machine.isDead || world.choices().nextInt(40) == 0) {
          break;
        }
      }
      acknowledge(connection, tracker, inHand);
      // A subscriber that is done leaves as soon as its last acknowledgement has arrived.
      world.await(() -> contiguous(events()) >= last, ON_THE_WAY);
      return contiguous(events());
    }

    private long position(Host process) {
      while (true) {
        try {
          return process.cursors.position(key).orElse(0);
        } catch (KeeperException e) {
          world.await(() -> false, Duration.ofMillis(50));
        }
      }
    }

    private Set<Long> events() {
      return acknowledged.computeIfAbsent(text, k -> new TreeSet<>());
    }

    /**
     * Sends an acknowledgement, which reaches the process a little later, even if the process is
     * frozen.
     */
    private void acknowledge(Connection connection, EventTracker tracker, List<Long> inHand) {
      Collections.shuffle(inHand, world.choices());
      for (long event : inHand) {
        if (!connection.machine.isDead) {
          handled++;
          world.after(
              Duration.ofMillis(1 + world.choices().nextInt(5)),
              connection.machine,
              () -> taken(connection, tracker, event));
        }
      }
      inHand.clear();
    }

    private void taken(Connection connection, EventTracker tracker, long event) {
      var process = connection.process;
      if (process.isClosing) {
        return;
      }
      events().add(event);
      connection.taken.add(event);
      if (bugs.contains(CursorBug.NEWEST_DROPPED) && process.writer.pending(text).isPresent()) {
        return;
      }
      if (bugs.contains(CursorBug.LAST_WAITS_FOR_NEXT) && event == last) {
        return;
      }
      tracker.acknowledge(event);
      if (world.choices().nextInt(4) == 0) {
        long sure = contiguous(events());
        var unused =
            process.cursors.acknowledge(key, sure).thenAccept(outcome -> told(sure, outcome));
      }
    }

    private void told(long event, Outcome outcome) {
      if (outcome.isSaved()) {
        toldSaved.merge(text, event, Math::max);
        if (positionOf(text) < event) {
          referee.broken(
              "I3", "%s was told that event %d is saved, and it is not".formatted(text, event));
        }
      }
    }
  }
}
