package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Kills a process of intake and relay between two statements, one process for each statement, and
 * lets another one continue. In every case all messages are relayed, once and in order.
 *
 * <p>The build kills before every kind of statement, and at every third statement. All statements:
 * {@code mvn -pl server test -Dtest=KilledProcessTest -Dkeeper.kill.stride=1}.
 */
class KilledProcessTest {
  private static final int AT_ONCE = 3;
  private static final int MOST_PLACES = 200;

  /** The build kills at every n-th statement; this is n. */
  private static final int STRIDE = Integer.getInteger("keeper.kill.stride", 3);

  private static final List<String> STATEMENTS =
      List.of(
          "pg_advisory_xact_lock",
          "INTO keeper.github_event",
          "INTO keeper.shared_body",
          "keeper.send",
          "INTO keeper.github_route",
          "INTO keeper.stream_outbox",
          "COMMIT",
          "keeper.claim_lanes",
          "keeper.settle");
  private static final Pattern STEP = Pattern.compile("\"step\":(\\d+)");

  @Test
  @Timeout(600)
  void aProcessThatDiesAnywhereLosesAndDoublesNothing() throws Exception {
    var prepared = TestDatabase.create();
    Migrations.apply(prepared.source(), "store");
    Migrations.apply(prepared.source(), "gateway");
    try (var queues = PostgresQueueProvider.create(prepared.source())) {
      IntakeProcess.declare(queues);
    }
    var places = Collections.synchronizedList(new ArrayList<String>());
    var next = new AtomicInteger(1);
    var survived = new AtomicBoolean();
    Callable<Void> sweep =
        () -> {
          for (int at = next.getAndAdd(STRIDE);
              !survived.get() && at <= MOST_PLACES;
              at = next.getAndAdd(STRIDE)) {
            var database = TestDatabase.copyOf(prepared);
            var died = run(database, Integer.toString(at));
            if (died.isEmpty()) {
              survived.set(true);
            }
            places.addAll(died);
            recover(database, "killed at " + at + ": " + died);
          }
          return null;
        };
    try (var threads = Executors.newFixedThreadPool(AT_ONCE)) {
      for (var one : threads.invokeAll(Collections.nCopies(AT_ONCE, sweep))) {
        one.get();
      }
    }
    assertThat(survived).as("the sweep came to the end of the work").isTrue();
    for (var statement : STATEMENTS) {
      dieBefore(statement, places, prepared);
    }
  }

  /**
   * Kills a process before a statement. Statement numbers differ between processes, so the run over
   * all numbers may have missed this one.
   */
  private static void dieBefore(String statement, List<String> places, TestDatabase.Fresh prepared)
      throws Exception {
    if (places.stream().noneMatch(step -> step.contains(statement))) {
      var database = TestDatabase.copyOf(prepared);
      var died = run(database, statement);
      assertThat(died).as("died before " + statement).isNotEmpty();
      recover(database, "killed before " + statement);
    }
  }

  /** Returns where the process died; empty if it ended normally. */
  private static List<String> run(TestDatabase.Fresh database, String place)
      throws IOException, InterruptedException {
    var process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                IntakeProcess.class.getName(),
                database.url(),
                database.user(),
                database.password(),
                place)
            .redirectErrorStream(true)
            .start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    assertThat(code).as(said).isIn(0, IntakeProcess.KILLED);
    return said.lines().filter(line -> line.startsWith("died before")).toList();
  }

  /** Continues after a kill: time passes, another process starts, and GitHub redelivers. */
  private static void recover(TestDatabase.Fresh database, String what) throws Exception {
    try (var pool = IntakeProcess.pool(database.url(), database.user(), database.password())) {
      Database.of(pool)
          .doInTransaction(
              connection -> {
                try (var statement = connection.createStatement()) {
                  statement.execute("UPDATE keeper.lane SET until = clock_timestamp()");
                }
              });
      try (var elsewhere = IntakeProcess.queues(pool);
          var relay =
              RelayOutbox.start(IntakeProcess.queues(pool), elsewhere, TimeSource.system())) {
        IntakeProcess.takeIn(pool, relay);
        IntakeProcess.awaitCarriedOver(pool);
        assertThat(inSession(elsewhere, "entity", "acme/kill/pull_request/1"))
            .as(what)
            .containsExactly("1", "2");
        assertThat(inSession(elsewhere, "repository", "acme/kill/repository"))
            .as(what)
            .containsExactly("1", "2");
        assertThat(unordered(elsewhere)).as(what).containsExactlyInAnyOrder("1", "2");
      }
    }
  }

  private static List<String> inSession(PostgresQueueProvider queues, String queue, String session)
      throws InterruptedException {
    var accepted =
        queues.sessions(QueueName.of(queue)).acceptNext(Owner.of("test"), Duration.ofSeconds(20));
    try (var held = ((AcceptResult.Accepted) accepted).session()) {
      assertThat(held.id()).isEqualTo(SessionId.of(session));
      return held.receive(10, Duration.ZERO).stream()
          .map(delivery -> step(delivery.payload().asText()))
          .toList();
    }
  }

  private static List<String> unordered(PostgresQueueProvider queues) throws InterruptedException {
    return queues.messages(QueueName.of("plain")).receive(10, Duration.ZERO).stream()
        .map(held -> step(held.delivery().payload().asText()))
        .toList();
  }

  private static String step(String body) {
    var found = STEP.matcher(body);
    return found.find() ? found.group(1) : body;
  }
}
