package dev.sessionkeeper.simulator;

import dev.sessionkeeper.testkit.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A model of readers that share one queue by buckets: join, hand over, crash, ask, and settlements
 * that are fenced by a row which names the owned buckets. Transactions interleave at each
 * statement.
 *
 * <p>It is a model of a design, not the product's code: it shows whether the protocol holds.
 */
final class SharedRun {
  static final int BUCKETS = 4;
  static final long ALL = (1L << BUCKETS) - 1;
  static final Duration NODE_LEASE = Duration.ofSeconds(2);
  static final Duration LANE_LEASE = Duration.ofSeconds(2);
  private static final Duration ACTIVE = Duration.ofSeconds(10);
  private static final Duration QUIET = Duration.ofSeconds(60);
  private static final long MOST_STEPS = 100_000;

  final World world;
  final Tables tables;
  final Set<SharedBug> bugs;
  final boolean isFixed;
  private final Trace trace;
  private final Random plan;
  private final List<Violation> violations = new ArrayList<>();
  private final List<SharedReader> readers = new ArrayList<>();
  private final int sessions;
  private int sending;
  private int lives;
  private long slowestMicros;

  // The tables of the queue.
  final Map<String, Long> nodes = new LinkedHashMap<>();
  final Set<String> alive = new HashSet<>();
  final Map<String, Share> shares = new LinkedHashMap<>();
  final TreeMap<Long, Bundle> bundles = new TreeMap<>();
  final Map<String, List<Place>> notes = new LinkedHashMap<>();
  final Map<Integer, Lane> lanes = new LinkedHashMap<>();
  final Map<Integer, Ask> asks = new LinkedHashMap<>();
  List<Long> masks = new ArrayList<>(List.of(ALL));
  long splitVersion = 1;
  long epochSequence;
  private long bundleSequence;

  // What really happened.
  private final Map<Integer, List<Integer>> accepted = new TreeMap<>();
  private final Map<Integer, Integer> settledUpTo = new HashMap<>();
  private final Map<Integer, Running> running = new HashMap<>();
  private int handled;

  /** What a process owns. */
  static final class Share {
    final String node;
    final long epoch;
    long owns;
    long give;
    private final Map<Long, Long> since = new HashMap<>();

    Share(String node, long epoch) {
      this.node = node;
      this.epoch = epoch;
    }

    /** Says since which version of the split a bucket is owned without a break. */
    long since(long bucket) {
      return since.getOrDefault(bucket, 0L);
    }

    void taken(long buckets, long version) {
      for (long bit = 1; bit <= ALL; bit <<= 1) {
        if ((buckets & bit) != 0) {
          since.put(bit, version);
        }
      }
    }
  }

  /** Messages of one send. */
  static final class Bundle {
    final long number;
    final long buckets;
    final List<Element> elements;
    final long committed;
    final Set<Integer> done = new TreeSet<>();

    Bundle(long number, long buckets, List<Element> elements, long committed) {
      this.number = number;
      this.buckets = buckets;
      this.elements = elements;
      this.committed = committed;
    }

    boolean isFull() {
      return done.size() == elements.size();
    }
  }

  /** A message in a bundle. */
  record Element(int session, int message) {}

  /** Where a message is. */
  record Place(long bundle, int index, Element element) {}

  /** A session that is written down. */
  static final class Lane {
    final int session;
    final List<Element> rows = new ArrayList<>();
    long epoch;
    String owner = "";
    long until;
    boolean isHeld;

    Lane(int session) {
      this.session = session;
    }
  }

  /** Somebody needs a session as a lane. */
  record Ask(int session, String node, long committed) {}

  private record Running(SharedReader reader, int message, long since) {}

  static long bucket(int session) {
    return 1L << (session % BUCKETS);
  }

  private final BitSet skipped;
  private final List<String> items = new ArrayList<>();

  private SharedRun(
      long seed, Set<SharedBug> bugs, boolean isFixed, boolean keepsTrace, BitSet skipped) {
    this.skipped = skipped;
    this.plan = new Random(seed * 0x9E3779B97F4A7C15L + 2);
    this.bugs = bugs;
    this.isFixed = isFixed;
    this.trace = new Trace(keepsTrace);
    this.world = new World(seed, trace);
    this.tables = new Tables(world, this::check);
    this.sessions = 2 + plan.nextInt(5);
    this.slowestMicros = plan.nextInt(4) == 0 ? 300_000 : 6_000;
  }

  /**
   * Runs a seed.
   *
   * @param isFixed whether a settlement also names since when its bucket is owned
   * @param skipped faults that are left out
   */
  static SimulationReport run(
      long seed, Set<SharedBug> bugs, boolean isFixed, boolean keepsTrace, BitSet skipped) {
    return new SharedRun(seed, bugs, isFixed, keepsTrace, skipped).run();
  }

  boolean has(SharedBug bug) {
    return bugs.contains(bug);
  }

  Duration delay() {
    int micros = 200 + world.choices().nextInt(3000);
    if (world.choices().nextInt(25) == 0) {
      micros += world.choices().nextInt((int) slowestMicros);
    }
    return Duration.ofNanos(micros * 1000L);
  }

  void broken(String invariant, String what) {
    world.note("check", invariant + ": " + what);
    violations.add(new Violation(invariant, what));
  }

  private SimulationReport run() {
    int count = 2 + plan.nextInt(3);
    for (int i = 0; i < count; i++) {
      var reader = new SharedReader(this, i);
      readers.add(reader);
      world.after(within(Duration.ofSeconds(3)), world.environment(), () -> begin(reader));
    }
    int message = 0;
    for (int session = 0; session < sessions; session++) {
      int from = message;
      int size = 2 + plan.nextInt(6);
      message += size;
      sending++;
      int of = session;
      world.start(world.environment(), () -> send(of, from, size));
    }
    for (int i = plan.nextInt(5); i > 0; i--) {
      int of = plan.nextInt(count);
      int kind = plan.nextInt(5);
      var length = within(Duration.ofSeconds(4));
      var at = within(ACTIVE);
      items.add(describe(of, kind, length, at));
      if (!skipped.get(items.size() - 1)) {
        world.after(at, world.environment(), () -> fault(readers.get(of), kind, length));
      }
    }
    world.run(
        () ->
            !violations.isEmpty()
                || (sending == 0 && isAllSettled())
                || world.now() > ACTIVE.plus(QUIET).toNanos(),
        MOST_STEPS);
    if (violations.isEmpty() && !(sending == 0 && isAllSettled())) {
      broken("I9", "settled " + settledUpTo + " of " + accepted);
    }
    world.end();
    return new SimulationReport(
        List.copyOf(violations),
        world.steps(),
        handled,
        Duration.ofNanos(world.now()),
        trace.fingerprint(),
        items,
        trace.lines());
  }

  private static String describe(int reader, int kind, Duration length, Duration at) {
    var what =
        switch (kind) {
          case 0 ->
              "reader %d crashes and is back after %d ms".formatted(reader, length.toMillis());
          case 1 -> "reader %d stands still for %d ms".formatted(reader, length.toMillis());
          case 2 -> "reader %d gives all its buckets back and joins anew".formatted(reader);
          case 3 -> "the database restarts, or a standby without the newest send is promoted";
          default -> "reader %d asks for a session of another".formatted(reader);
        };
    return "at %6d ms  %s".formatted(at.toMillis(), what);
  }

  private Duration within(Duration most) {
    return Duration.ofMillis(plan.nextLong(most.toMillis()));
  }

  private void begin(SharedReader reader) {
    if (!reader.isRunning()) {
      reader.begin(lives++);
    }
  }

  private void fault(SharedReader reader, int kind, Duration length) {
    switch (kind) {
      case 0 -> {
        world.note(reader.name(), "crashes");
        reader.crash();
        world.after(length, world.environment(), () -> begin(reader));
      }
      case 1 -> {
        world.note(reader.name(), "stands still for " + length.toMillis() + " ms");
        reader.freeze(true);
        var frozen = reader.machine();
        world.after(
            Duration.ofSeconds(1),
            world.environment(),
            () -> {
              if (frozen.isFrozen) {
                tables.endIdle(frozen);
              }
            });
        world.after(length, world.environment(), () -> reader.freeze(false));
      }
      case 2 -> reader.leave();
      case 3 -> loseTail(length);
      default -> reader.ask(plan.nextInt(sessions));
    }
  }

  // Senders.

  private void send(int session, int from, int size) {
    long knownVersion = splitVersion;
    var knownMasks = List.copyOf(masks);
    for (int message = from; message < from + size; ) {
      world.await(() -> false, within(Duration.ofMillis(1500)));
      if (world.choices().nextInt(3) > 0 && knownVersion != splitVersion) {
        knownVersion = splitVersion;
        knownMasks = List.copyOf(masks);
      }
      var elements = new ArrayList<Element>();
      int most = 1 + world.choices().nextInt(3);
      for (int i = 0; i < most && message < from + size; i++) {
        elements.add(new Element(session, message++));
      }
      // The neighbour's message shares the bundle if one owner had both buckets, as far as is
      // known.
      store(session, elements, knownMasks);
    }
    sending--;
  }

  private final Map<Long, List<Element>> waitingForCompany = new HashMap<>();

  private void store(int session, List<Element> elements, List<Long> knownMasks) {
    long mask = knownMasks.stream().filter(m -> (m & bucket(session)) != 0).findFirst().orElse(ALL);
    var company = waitingForCompany.computeIfAbsent(mask, m -> new ArrayList<>());
    company.addAll(elements);
    world.await(() -> false, Duration.ofMillis(world.choices().nextInt(60)));
    if (!company.containsAll(elements)) {
      // Sent along by another sender of the same process; wait for its answer.
      world.await(() -> isAccepted(elements), Duration.ofSeconds(20));
      return;
    }
    var all = List.copyOf(company);
    company.clear();
    while (true) {
      try {
        tables.transaction(world.environment(), this::delay, t -> sendIn(t, all));
        return;
      } catch (Tables.Broken e) {
        if (isAccepted(all)) {
          return;
        }
      }
    }
  }

  private boolean isAccepted(List<Element> elements) {
    return elements.stream()
        .allMatch(e -> accepted.getOrDefault(e.session, List.of()).contains(e.message));
  }

  private boolean sendIn(Tables.Transaction t, List<Element> elements) {
    t.statement();
    long number = ++bundleSequence;
    long buckets = 0;
    for (var element : elements) {
      buckets |= bucket(element.session);
    }
    long of = buckets;
    t.write(
        () -> {
          bundles.put(number, new Bundle(number, of, elements, tables.commits()));
          for (var element : elements) {
            accepted.computeIfAbsent(element.session, s -> new ArrayList<>()).add(element.message);
          }
          world.note("sender", "bundle " + number + " " + elements);
        });
    return true;
  }

  // The end of the tail.

  private void loseTail(Duration by) {
    world.note("world", "the database restarts; unlogged tables are empty");
    tables.restart();
    alive.clear();
    if (by.toMillis() % 2 == 0) {
      // A standby that lacks the newest bundles is promoted: their numbers come again.
      var newest = bundles.descendingMap().values().stream().limit(1).toList();
      for (var bundle : newest) {
        if (bundle.done.isEmpty() && isUntouched(bundle)) {
          world.note("world", "bundle " + bundle.number + " is lost");
          bundles.remove(bundle.number);
          bundleSequence = bundle.number - 1;
          for (var element : bundle.elements) {
            accepted.get(element.session).remove((Integer) element.message);
            sending++;
            world.start(world.environment(), () -> resend(element));
          }
        }
      }
    }
    check();
  }

  private boolean isUntouched(Bundle bundle) {
    return notes.values().stream().flatMap(List::stream).noneMatch(n -> n.bundle == bundle.number)
        && bundle.elements.stream()
            .allMatch(
                e ->
                    accepted.get(e.session).getLast() == e.message
                        && (!lanes.containsKey(e.session)
                            || !lanes.get(e.session).rows.contains(e)));
  }

  /** The number comes again with other content: a new message of the session. */
  private void resend(Element lost) {
    store(lost.session, List.of(new Element(lost.session, lost.message + 1000)), masks);
    sending--;
  }

  // What took effect.

  /**
   * A handler begins.
   *
   * @param isTakenOver whether the lease of the one before has run out in the store
   */
  void started(SharedReader reader, int session, int message, boolean isTakenOver) {
    handled++;
    var other = running.get(session);
    if (other != null
        && !isTakenOver
        && !other.reader.equals(reader)
        && other.reader.isTrustedSince(other.since)
        && reader.isTrustedSince(world.now())) {
      broken(
          "I2",
          "%s handles message %d of session %d while %s handles %d"
              .formatted(reader.name(), message, session, other.reader.name(), other.message));
    }
    running.put(session, new Running(reader, message, world.now()));
  }

  void stopped(SharedReader reader, int session) {
    var now = running.get(session);
    if (now != null && now.reader.equals(reader)) {
      running.remove(session);
    }
  }

  /** A settlement takes effect, in the commit of its transaction. */
  void settled(String by, Element element) {
    var all = accepted.getOrDefault(element.session, List.of());
    int place = all.indexOf(element.message);
    int done = settledUpTo.getOrDefault(element.session, 0);
    world.note(by, "settled message " + element.message + " of session " + element.session);
    if (place < done) {
      broken("I4", "%s settled %s twice, or one that is lost".formatted(by, element));
    } else if (place > done) {
      broken("I1", "%s settled %s while message %d is open".formatted(by, element, all.get(done)));
    } else {
      settledUpTo.put(element.session, done + 1);
    }
  }

  /** An ask was answered: what was sent before it is written down, or in hand, or settled. */
  void answered(Ask ask, boolean isInHand) {
    if (isInHand || lanes.containsKey(ask.session)) {
      return;
    }
    for (var bundle : bundles.values()) {
      for (int i = 0; i < bundle.elements.size(); i++) {
        var element = bundle.elements.get(i);
        var place = new Place(bundle.number, i, element);
        boolean isNoted = notes.values().stream().anyMatch(all -> all.contains(place));
        if (element.session == ask.session
            && bundle.committed <= ask.committed
            && !bundle.done.contains(i)
            && !isNoted) {
          broken(
              "P2",
              "the ask for session " + ask.session + " got nothing, and " + element + " waits");
        }
      }
    }
  }

  private boolean isAllSettled() {
    return accepted.entrySet().stream()
        .allMatch(e -> settledUpTo.getOrDefault(e.getKey(), 0) == e.getValue().size());
  }

  /** The truth rule: what is accepted and not settled waits somewhere, and nothing else does. */
  private void check() {
    long all = 0;
    for (var share : shares.values()) {
      if ((all & share.owns) != 0) {
        broken("P1", "two owners of a bucket: " + share.node);
      }
      all |= share.owns;
    }
    var waiting = new HashSet<Element>();
    var noted = new HashSet<Place>();
    notes.values().forEach(noted::addAll);
    for (var bundle : bundles.values()) {
      for (int i = 0; i < bundle.elements.size(); i++) {
        var element = bundle.elements.get(i);
        if (!bundle.done.contains(i) && !noted.contains(new Place(bundle.number, i, element))) {
          waiting.add(element);
        }
      }
    }
    for (var lane : lanes.values()) {
      for (var row : lane.rows) {
        if (!waiting.add(row)) {
          broken("I4", row + " waits twice");
        }
      }
    }
    for (var entry : accepted.entrySet()) {
      int done = settledUpTo.getOrDefault(entry.getKey(), 0);
      for (int i = 0; i < entry.getValue().size(); i++) {
        var element = new Element(entry.getKey(), entry.getValue().get(i));
        if (i >= done && !waiting.contains(element)) {
          broken("I3", element + " was accepted, is not settled, and waits nowhere");
        } else if (i < done && waiting.contains(element)) {
          broken("I4", element + " is settled and waits all the same");
        }
      }
    }
  }
}
