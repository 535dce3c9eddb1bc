package dev.sessionkeeper.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.testkit.TestInRealTime;
import dev.sessionkeeper.time.TimeSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A real process that is stopped for three leases in the middle of its work, and then continued.
 */
@Tag("slow")
class FrozenOwnerTest {
  private static final Schedule HOURLY = Schedule.every(Duration.ofHours(1));
  private static final Duration LEASE = Duration.ofSeconds(1);

  @TestInRealTime
  void anOwnerThatWasFrozenForThreeLeasesChangesNothingWhenItWakes() throws Exception {
    var db = new TestDatabase();
    var events = new Events();
    var child = start(db);
    var said = new CopyOnWriteArrayList<String>();
    try (var jobs = Jobs.create(db.source, db.source, options("heir", events))) {
      listen(child, said);
      await().atMost(Duration.ofSeconds(30)).until(() -> effects(db, 1) > 5);
      signal(child, "-STOP");
      long frozenAt = System.nanoTime();
      jobs.register("work", HOURLY, FrozenOwnerTest::workUntilStopped).start();
      await().until(() -> effects(db, 2) > 5);
      long before = effects(db, 1);
      await().until(() -> System.nanoTime() - frozenAt > LEASE.multipliedBy(3).toNanos());
      signal(child, "-CONT");
      await().until(() -> said.stream().anyMatch(line -> line.startsWith("REJECTED")));
      await().until(() -> said.contains("LOST"));
      assertThat(effects(db, 1)).isEqualTo(before);
      assertThat(
              db.number(
                  "SELECT count(*) FROM effect a JOIN effect b ON a.at > b.at AND a.epoch <"
                      + " b.epoch"))
          .isZero();
      assertThat(events.of(JobEvent.TakenOver.class)).hasSize(1);
    } finally {
      child.destroyForcibly().waitFor();
    }
  }

  private static long effects(TestDatabase db, int epoch) {
    return db.number("SELECT count(*) FROM effect WHERE epoch = " + epoch);
  }

  /**
   * Works until it is stopped; tries again after a refusal, as a former owner would that does not
   * know of its loss.
   */
  private static void workUntilStopped(JobContext context) throws InterruptedException {
    while (!context.isStopping()) {
      Effect.of(context);
      TimeSource.system().sleep(Duration.ofMillis(20));
    }
  }

  private static JobOptions options(String owner, Events events) {
    return JobOptions.defaults()
        .owner(Owner.unique(owner))
        .lease(LEASE)
        .poll(Duration.ofMillis(100))
        .listener(events);
  }

  private static Process start(TestDatabase db) throws IOException {
    var java = ProcessHandle.current().info().command().orElseThrow();
    var command =
        List.of(
            java, "-Xmx128m", "-cp", System.getProperty("java.class.path"), Child.class.getName());
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("CHILD_URL", TestDatabase.url(db.name));
    builder.environment().put("CHILD_PASSWORD", TestDatabase.password());
    return builder.start();
  }

  private static void listen(Process child, List<String> said) {
    Thread.ofVirtual()
        .start(
            () -> {
              try (BufferedReader lines = child.inputReader(StandardCharsets.UTF_8)) {
                lines.lines().forEach(said::add);
              } catch (IOException e) {
                said.add(e.toString());
              }
            });
  }

  private static void signal(Process child, String signal) throws Exception {
    var kill = new ProcessBuilder("kill", signal, Long.toString(child.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  /** The process that is frozen. */
  static final class Child {
    private Child() {}

    public static void main(String[] args) throws Exception {
      var source = new PGSimpleDataSource();
      source.setUrl(System.getenv("CHILD_URL"));
      source.setUser("keeper");
      source.setPassword(System.getenv("CHILD_PASSWORD"));
      var events = new Events();
      var options =
          options("frozen", events)
              .listener(
                  event -> {
                    events.accept(event);
                    if (event instanceof JobEvent.FenceRejected) {
                      System.out.println("REJECTED " + event);
                    }
                    if (event instanceof JobEvent.Lost) {
                      System.out.println("LOST");
                    }
                  });
      var jobs = Jobs.create(source, source, options);
      jobs.register("work", HOURLY, Child::workDeafly).start();
      jobs.requestRun("work");
      new CountDownLatch(1).await(2, TimeUnit.MINUTES);
    }

    private static void workDeafly(JobContext context) {
      while (true) {
        // An interrupt would end the process before it is refused; the refusal is what this test
        // checks.
        Thread.interrupted();
        Effect.of(context);
      }
    }
  }
}
