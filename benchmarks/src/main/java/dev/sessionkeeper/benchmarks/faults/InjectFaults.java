package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Injects one fault after the other, as the seed chooses, for the length of the run. One thread.
 */
final class InjectFaults {
  private static final Duration STEP = Duration.ofMillis(50);
  private static final Duration ON_THE_WAY = Duration.ofMillis(150);
  private static final Duration BETWEEN_CRASHES = Duration.ofSeconds(25);
  private static final String TERMINATE =
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
       ORDER BY random() LIMIT 1
      """;
  private static final String TABLES =
      """
      SELECT relid::regclass::text
        FROM (SELECT relid FROM pg_stat_user_tables WHERE schemaname = 'keeper'
               ORDER BY n_tup_ins + n_tup_upd + n_tup_del DESC LIMIT 4) busy
       ORDER BY random() LIMIT 3
      """;
  private static final String DEADLOCKS =
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
  private static final List<Long> OFFSETS = List.of(0L, 0L, 2L, -2L, 60L, -60L, 86_400L, -86_400L);
  private static final Duration RECOVERY = Duration.ofSeconds(60);

  private final Options options;
  private final Cast cast;
  private final EmbeddedPostgres postgres;
  private final Journal journal;
  private final Consumer<String> progress;
  private final Random random;
  private final List<Faults> kinds;
  private final Map<String, Long> backAt = new HashMap<>();
  private boolean isOver;
  private long lastCrash = System.nanoTime();

  InjectFaults(
      Options options,
      Cast cast,
      EmbeddedPostgres postgres,
      Journal journal,
      Consumer<String> progress) {
    this.options = options;
    this.cast = cast;
    this.postgres = postgres;
    this.journal = journal;
    this.progress = progress;
    this.random = new Random(options.seed());
    this.kinds = options.faults().stream().filter(kind -> kind != Faults.OPERATOR).toList();
  }

  void run() throws IOException, InterruptedException {
    long end = System.nanoTime() + options.duration().toNanos();
    long every = options.every().toNanos();
    int turn = 0;
    while (System.nanoTime() < end) {
      waitUntil(Math.min(end, System.nanoTime() + every / 2 + random.nextLong(every)));
      if (!kinds.isEmpty() && System.nanoTime() < end) {
        // The first ones come in turn, so that a short run has each of them.
        var kind = kinds.get(turn < kinds.size() ? turn : random.nextInt(kinds.size()));
        turn++;
        one(kind);
      }
    }
    isOver = true;
    for (var role : cast.doomed()) {
      replace(role);
    }
    cast.slowDown(Duration.ZERO);
    for (var role : List.copyOf(backAt.keySet())) {
      back(role);
    }
  }

  private void waitUntil(long moment) throws IOException, InterruptedException {
    while (System.nanoTime() < moment) {
      Thread.sleep(STEP);
      for (var role : cast.fallen()) {
        progress.accept(role + " died at a statement");
        backAt.remove(role);
        startAgain(role);
      }
      for (var entry : Map.copyOf(backAt).entrySet()) {
        if (entry.getValue() <= System.nanoTime()) {
          back(entry.getKey());
        }
      }
    }
  }

  private void back(String role) throws IOException, InterruptedException {
    backAt.remove(role);
    if (cast.reach(role)) {
      Thread.sleep(ON_THE_WAY);
    }
    cast.thaw(role);
  }

  private void one(Faults kind) throws IOException, InterruptedException {
    switch (kind) {
      case KILL -> replace(victim());
      case SENDER -> replace(anyOf(cast.roles("sender")));
      case FREEZE -> putAway(false);
      case ISOLATE -> putAway(true);
      case LEAVE -> leave();
      case STATEMENT -> doom();
      case SLOW -> slowDown();
      case CONNECTIONS -> takeAllConnections();
      case LOCKS -> lockTables();
      case CLOCK -> moveClocks();
      case DISK -> fillDisk();
      case CUT -> cut();
      case DATABASE -> crash();
      case OPERATOR -> {
        // A process of its own acts all the time.
      }
    }
  }

  private String anyOf(List<String> roles) {
    return roles.get(random.nextInt(roles.size()));
  }

  /**
   * Returns a consumer, rarely a frozen one, because that should continue and meet its successors.
   */
  private String victim() {
    var running = running();
    return anyOf(running.isEmpty() || random.nextInt(8) == 0 ? cast.roles("consumer") : running);
  }

  private List<String> running() {
    return cast.roles("consumer").stream()
        .filter(role -> !cast.isAway(role) && !cast.doomed().contains(role))
        .toList();
  }

  private void replace(String role) throws IOException, InterruptedException {
    progress.accept("kill " + role);
    cast.kill(role);
    backAt.remove(role);
    cast.start(role);
    cast.awaitReady(role);
  }

  private void putAway(boolean isIsolated) throws IOException, InterruptedException {
    var running = running();
    if (running.size() < 2) {
      return;
    }
    var role = anyOf(running);
    boolean isLong = backAt.isEmpty() && random.nextInt(3) > 0;
    var time =
        isLong
            ? options.longFreeze().plusMillis(random.nextInt(2000))
            : Duration.ofMillis(random.nextInt(200, 4000));
    var what = isIsolated ? "isolate " : "freeze ";
    progress.accept(what + role + " for " + time.toMillis() + " ms");
    if (isIsolated) {
      cast.isolate(role);
    } else {
      if (isLong && random.nextBoolean()) {
        // Its requests now arrive after its lease, without its knowledge.
        cast.isolate(role);
        Thread.sleep(ON_THE_WAY);
      }
      cast.freeze(role);
    }
    backAt.put(role, System.nanoTime() + time.toNanos());
  }

  /** Cuts several connections in a row, because a single cut often hits an idle one. */
  private void cut() throws InterruptedException {
    var reachable = new ArrayList<>(cast.roles("sender"));
    reachable.addAll(running());
    int times = random.nextInt(1, 12);
    progress.accept("cut " + times + " connections");
    for (int i = 0; i < times; i++) {
      if (random.nextInt(4) == 0) {
        terminateBackend();
      } else {
        cast.cut(anyOf(reachable), random, random.nextBoolean());
      }
      Thread.sleep(random.nextLong(60));
    }
  }

  private void doom() throws IOException, InterruptedException {
    var role = victim();
    progress.accept(role + " is followed by one that dies at a statement");
    cast.kill(role);
    backAt.remove(role);
    int at = 1 + random.nextInt(random.nextBoolean() ? 40 : 400);
    cast.startDoomed(role, random.nextBoolean() ? at : -at);
  }

  /** Starts a replacement for a process that has died. */
  private void startAgain(String role) throws IOException, InterruptedException {
    if (isOver || random.nextInt(3) == 0) {
      cast.start(role);
      cast.awaitReady(role);
    } else {
      int at = 1 + random.nextInt(random.nextBoolean() ? 40 : 400);
      cast.startDoomed(role, random.nextBoolean() ? at : -at);
    }
  }

  private void slowDown() throws IOException, InterruptedException {
    var most = Duration.ofMillis(random.nextLong(20, 1000));
    progress.accept("data takes up to " + most.toMillis() + " ms");
    cast.slowDown(most);
    waitUntil(System.nanoTime() + random.nextLong(3_000_000_000L));
    cast.slowDown(Duration.ZERO);
  }

  private void takeAllConnections() throws IOException, InterruptedException {
    progress.accept("the database has no connection left");
    limitConnections(0);
    cut(); // Processes that have connections would not notice.
    waitUntil(System.nanoTime() + random.nextLong(1_000_000_000L, 4_000_000_000L));
    limitConnections(-1);
  }

  private void limitConnections(int most) {
    try (var connection = postgres.adminDataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("ALTER ROLE " + postgres.user() + " CONNECTION LIMIT " + most);
    } catch (SQLException e) {
      throw new IllegalStateException("The limit of connections cannot be changed", e);
    }
  }

  /**
   * Locks tables in an order of its own, so that a transaction that locks them in another order
   * deadlocks.
   */
  private void lockTables() throws IOException, InterruptedException {
    int givenUp = 0;
    int times = 30;
    for (int i = 0; i < times; i++) {
      try (var connection = postgres.dataSource().getConnection();
          var statement = connection.createStatement()) {
        connection.setAutoCommit(false);
        var tables = new ArrayList<String>();
        try (var rows = statement.executeQuery(TABLES)) {
          while (rows.next()) {
            tables.add(rows.getString(1));
          }
        }
        // A frozen process in a transaction continues only when this thread lets it.
        statement.execute("SET LOCAL lock_timeout = '2s'");
        for (var table : tables) {
          statement.execute("LOCK TABLE " + table + " IN SHARE ROW EXCLUSIVE MODE");
          Thread.sleep(random.nextLong(8));
        }
        connection.rollback();
      } catch (SQLException e) {
        givenUp++;
      }
      waitUntil(System.nanoTime() + random.nextLong(40_000_000L));
    }
    progress.accept(
        "locked tables "
            + times
            + " times, gave up "
            + givenUp
            + " times; "
            + deadlocks()
            + " deadlocks so far");
  }

  private String deadlocks() {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(DEADLOCKS)) {
      rows.next();
      return rows.getString(1);
    } catch (SQLException e) {
      throw new IllegalStateException("The deadlocks cannot be counted", e);
    }
  }

  private void moveClocks() throws IOException {
    for (var role : cast.roles("consumer")) {
      var offset = Duration.ofSeconds(OFFSETS.get(random.nextInt(OFFSETS.size())));
      progress.accept("the clock of " + role + " is " + offset + " off");
      cast.moveClock(role, offset);
    }
  }

  private void fillDisk() throws IOException, InterruptedException {
    var file = options.disk().orElseThrow().resolve("filler");
    progress.accept("the disk is full");
    journal.about(Kind.CRASHING, ""); // PostgreSQL ends itself if it cannot write its log.
    try (var out = Files.newOutputStream(file)) {
      var piece = new byte[1 << 16];
      long end = System.nanoTime() + random.nextLong(3_000_000_000L, 6_000_000_000L);
      while (System.nanoTime() < end) {
        try {
          out.write(piece);
        } catch (IOException e) {
          waitUntil(
              System.nanoTime()
                  + STEP.toNanos()); // The disk is full. Space that is freed meanwhile is used up.
        }
      }
    } finally {
      Files.delete(file);
    }
    progress.accept("the disk has space again");
    awaitDatabase();
    journal.about(Kind.RECOVERED, "");
  }

  private void terminateBackend() {
    journal.about(Kind.CUT, "");
    try (var connection = postgres.adminDataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(TERMINATE);
    } catch (SQLException e) {
      // The database is down, so there is no backend to end.
      progress.accept("no backend was ended: " + e.getMessage());
    }
  }

  /** Lets a consumer leave; the next consumer joins before or after that. */
  private void leave() throws IOException, InterruptedException {
    var running = running();
    if (running.isEmpty()) {
      return;
    }
    var role = anyOf(running);
    boolean joinsFirst = random.nextBoolean();
    progress.accept(role + " leaves, the next joins " + (joinsFirst ? "before" : "after"));
    var guest = "consumer-guest";
    if (joinsFirst) {
      cast.start(guest);
      cast.awaitReady(guest);
    }
    cast.leave(role);
    if (!joinsFirst) {
      waitUntil(System.nanoTime() + random.nextLong(2_000_000_000L));
    }
    cast.start(role);
    cast.awaitReady(role);
    if (joinsFirst) {
      cast.leave(guest);
      cast.forget(guest);
    }
  }

  private void crash() throws IOException, InterruptedException {
    if (System.nanoTime() - lastCrash < BETWEEN_CRASHES.toNanos()
        && options.duration().compareTo(BETWEEN_CRASHES.multipliedBy(2)) > 0) {
      return;
    }
    progress.accept("crash of the database");
    var others = CompletableFuture.runAsync(this::commitWithoutWaiting);
    waitUntil(System.nanoTime() + random.nextLong(500_000_000L, 1_500_000_000L));
    journal.about(Kind.CRASHING, "");
    ChildProcess.signal(postgres.pid(), random.nextBoolean() ? "QUIT" : "KILL");
    others.join();
    awaitDatabase();
    journal.about(Kind.RECOVERED, "");
    lastCrash = System.nanoTime();
  }

  /**
   * Commits as another application that does not wait for the disk: the crash loses its last
   * commits, and PostgreSQL assigns their transaction ids again.
   */
  private void commitWithoutWaiting() {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("SET synchronous_commit = off");
      while (true) {
        statement.execute("INSERT INTO other_application DEFAULT VALUES");
        LockSupport.parkNanos(300_000);
      }
    } catch (SQLException e) {
      // The database crashed as expected.
    }
  }

  private void awaitDatabase() throws InterruptedException {
    long deadline = System.nanoTime() + RECOVERY.toNanos();
    while (true) {
      try (var connection = postgres.dataSource().getConnection()) {
        if (connection.isValid(5)) {
          return;
        }
      } catch (SQLException e) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("The database did not recover within " + RECOVERY, e);
        }
      }
      Thread.sleep(STEP);
    }
  }
}
