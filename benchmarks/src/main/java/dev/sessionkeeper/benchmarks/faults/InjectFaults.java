package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.IOException;
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
 * Does one fault after the other, as the seed chooses, for as long as the run lasts. One thread.
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
  private static final Duration RECOVERY = Duration.ofSeconds(60);

  private final Options options;
  private final Cast cast;
  private final EmbeddedPostgres postgres;
  private final Journal journal;
  private final Consumer<String> progress;
  private final Random random;
  private final List<Faults> kinds;
  private final Map<String, Long> backAt = new HashMap<>();
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
    for (var role : List.copyOf(backAt.keySet())) {
      back(role);
    }
  }

  private void waitUntil(long moment) throws IOException, InterruptedException {
    while (System.nanoTime() < moment) {
      Thread.sleep(STEP);
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
      case CUT -> cut();
      case DATABASE -> crash();
      case OPERATOR -> {
        // A process of its own is at it all the time.
      }
    }
  }

  private String anyOf(List<String> roles) {
    return roles.get(random.nextInt(roles.size()));
  }

  /** Seldom one that stands still: it is to go on and meet its successors. */
  private String victim() {
    var running = running();
    return anyOf(running.isEmpty() || random.nextInt(8) == 0 ? cast.roles("consumer") : running);
  }

  private List<String> running() {
    return cast.roles("consumer").stream().filter(role -> !cast.isAway(role)).toList();
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
        // What it sends now arrives after its lease, and it cannot know of either.
        cast.isolate(role);
        Thread.sleep(ON_THE_WAY);
      }
      cast.freeze(role);
    }
    backAt.put(role, System.nanoTime() + time.toNanos());
  }

  /** Several in a row: a single one often meets a connection without work. */
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

  private void terminateBackend() {
    journal.about(Kind.CUT, "");
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(TERMINATE);
    } catch (SQLException e) {
      // The database is just down: there is no backend to end.
      progress.accept("no backend was ended: " + e.getMessage());
    }
  }

  /** The next one joins before, or after, one leaves. */
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
    ChildProcess.signal(postgres.pid(), "QUIT");
    others.join();
    awaitDatabase();
    journal.about(Kind.RECOVERED, "");
    lastCrash = System.nanoTime();
  }

  /** Another application: what it commits last is lost, and transaction numbers come again. */
  private void commitWithoutWaiting() {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("SET synchronous_commit = off");
      while (true) {
        statement.execute("INSERT INTO other_application DEFAULT VALUES");
        LockSupport.parkNanos(300_000);
      }
    } catch (SQLException e) {
      // The database crashed, as it should.
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
