package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.testkit.FaultyNetwork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * The processes of a run. A process that ends is replaced by another one in its role, with a
 * journal of its own. Not thread-safe.
 */
final class Cast implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String[] SMALL = {"-XX:+UseSerialGC", "-Xmx384m", "-XX:TieredStopAtLevel=1"};

  private final Shape shape;
  private final Journal journal;
  private final DatabaseAddress database;
  private final boolean hasClocks;

  /**
   * The proxies of consumers and senders, by role; a replacement uses the proxy of its predecessor.
   */
  private final Map<String, FaultyNetwork> networks = new HashMap<>();

  private final Map<String, FakeClock> clocks = new HashMap<>();
  private final Map<String, ChildProcess> roles = new HashMap<>();
  private final Set<String> doomed = new HashSet<>();
  private final Set<String> frozen = new HashSet<>();
  private final Set<String> isolated = new HashSet<>();
  private final Map<String, Integer> generations = new HashMap<>();
  private final List<ChildProcess> all = new ArrayList<>();

  Cast(Shape shape, DatabaseAddress database, Journal journal, boolean hasClocks) {
    this.shape = shape;
    this.hasClocks = hasClocks;
    this.journal = journal;
    this.database = database;
    Runtime.getRuntime().addShutdownHook(new Thread(this::close));
  }

  void start(String role) throws IOException {
    start(role, Map.of());
  }

  /**
   * Starts a process that kills itself.
   *
   * @param at the number of its last statement; negative if that is still executed
   */
  void startDoomed(String role, int at) throws IOException {
    start(role, Map.of(DieAtStatement.AT, Integer.toString(at)));
    doomed.add(role);
  }

  /** Returns consumers that will kill themselves. */
  List<String> doomed() {
    return List.copyOf(doomed);
  }

  /** Returns consumers that killed themselves since the last call. */
  List<String> fallen() {
    var fallen = doomed.stream().filter(role -> !process(role).isAlive()).toList();
    for (var role : fallen) {
      journal.about(Kind.KILLED, process(role).name());
      doomed.remove(role);
    }
    return fallen;
  }

  void moveClock(String role, Duration offset) throws IOException {
    clock(role).moveBy(offset);
  }

  private FakeClock clock(String role) throws IOException {
    var clock = clocks.get(role);
    if (clock == null) {
      clock = FakeClock.create(shape.folder().resolve(role + ".clock"));
      clocks.put(role, clock);
    }
    return clock;
  }

  void slowDown(Duration most) {
    networks.values().forEach(network -> network.delay(most));
  }

  private void start(String role, Map<String, String> more) throws IOException {
    var name = role + "." + generations.merge(role, 1, Integer::sum);
    journal.about(Kind.STARTED, name);
    var own = new HashMap<>(shape.asEnvironment());
    own.putAll(addressOf(role).asEnvironment());
    own.put(ChildMain.NAME, name);
    own.putAll(more);
    if (hasClocks && role.startsWith("consumer")) {
      own.putAll(clock(role).asEnvironment());
    }
    doomed.remove(role);
    var log = shape.folder().resolve(name + ".log");
    var process = ChildProcess.start(name, mainOf(role), own, log, SMALL);
    synchronized (all) {
      all.add(process);
    }
    roles.put(role, process);
  }

  private DatabaseAddress addressOf(String role) throws IOException {
    if (role.startsWith("operator")) {
      return database;
    }
    if (!networks.containsKey(role)) {
      networks.put(role, FaultyNetwork.to(database.port()));
    }
    return database.through(network(role).port());
  }

  private static Class<?> mainOf(String role) {
    if (role.contains(HolderProcess.ROLE)) {
      return HolderProcess.class;
    }
    return switch (role.substring(0, role.indexOf('-'))) {
      case "consumer" -> ConsumerProcess.class;
      case "sender" -> SenderProcess.class;
      case "operator" -> OperatorProcess.class;
      default -> throw new IllegalArgumentException("Unknown role " + role);
    };
  }

  /** Waits until a process has begun, because killing it earlier proves nothing. */
  void awaitReady(String role) throws InterruptedException {
    process(role).await("ready", PATIENCE);
  }

  void kill(String role) throws InterruptedException {
    var process = process(role);
    journal.about(Kind.KILLED, process.name());
    process.kill();
    frozen.remove(role);
    boolean unused = reach(role);
  }

  void freeze(String role) throws IOException, InterruptedException {
    var process = process(role);
    journal.about(Kind.FROZEN, process.name());
    process.freeze();
    frozen.add(role);
  }

  void thaw(String role) throws IOException, InterruptedException {
    if (frozen.remove(role)) {
      var process = process(role);
      process.thaw();
      journal.about(Kind.THAWED, process.name());
    }
  }

  void isolate(String role) {
    journal.about(Kind.ISOLATED, process(role).name());
    network(role).freeze();
    isolated.add(role);
  }

  /**
   * Delivers traffic that was held up, even of a process that was killed meanwhile. Returns false
   * if there was none.
   */
  boolean reach(String role) {
    if (!isolated.remove(role)) {
      return false;
    }
    network(role).thaw();
    journal.about(Kind.REACHED, process(role).name());
    return true;
  }

  /**
   * Cuts a connection of a process.
   *
   * @param isAnswerAwaited whether the database executes one more request before
   */
  void cut(String role, RandomGenerator random, boolean isAnswerAwaited) {
    journal.about(Kind.CUT, process(role).name());
    var network = network(role);
    boolean unused = isAnswerAwaited ? network.cutNextAnswer(random) : network.cutOne(random);
  }

  /** Returns whether a process is frozen or isolated. */
  boolean isAway(String role) {
    return frozen.contains(role) || isolated.contains(role);
  }

  /** Lets a process finish and end. */
  void leave(String role) throws IOException, InterruptedException {
    var process = process(role);
    journal.about(Kind.LEAVING, process.name());
    process.leave();
    if (!process.awaitEnd(PATIENCE)) {
      throw new IllegalStateException(
          "Process " + process.name() + " did not leave within " + PATIENCE);
    }
  }

  private ChildProcess process(String role) {
    return Objects.requireNonNull(roles.get(role), role);
  }

  private FaultyNetwork network(String role) {
    return Objects.requireNonNull(networks.get(role), role);
  }

  /** Ends a role without a replacement. */
  void forget(String role) {
    roles.remove(role);
  }

  List<String> roles(String prefix) {
    return roles.keySet().stream().filter(role -> role.startsWith(prefix)).sorted().toList();
  }

  /** Ends all processes, including frozen ones. */
  @Override
  public void close() {
    synchronized (all) {
      all.forEach(ChildProcess::close);
    }
    networks.values().forEach(Cast::end);
  }

  private static void end(FaultyNetwork network) {
    try {
      network.close();
    } catch (IOException e) {
      throw new UncheckedIOException("A proxy cannot be closed", e);
    }
  }
}
