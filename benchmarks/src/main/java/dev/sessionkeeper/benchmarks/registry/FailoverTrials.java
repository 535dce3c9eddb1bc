package dev.sessionkeeper.benchmarks.registry;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.JobOptions;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Kills the owner of a job with SIGKILL in the middle of a run, again and again, and measures how
 * long the next owner takes, with production leases. Arguments: trials (20), lease seconds (15).
 */
public final class FailoverTrials {
  private static final Schedule HOURLY = Schedule.every(Duration.ofHours(1));
  private static final String JOB = "trial";

  private FailoverTrials() {}

  public static void main(String[] args) throws Exception {
    if (args.length > 0 && args[0].equals("child")) {
      child(Integer.parseInt(args[1]));
      return;
    }
    int trials = args.length > 0 ? Integer.parseInt(args[0]) : 20;
    int lease = args.length > 1 ? Integer.parseInt(args[1]) : 15;
    double worst = 0;
    int within = 0;
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync()) {
      Jobs.migrate(postgres.dataSource());
      for (int trial = 1; trial <= trials; trial++) {
        double seconds = trial(postgres, lease);
        worst = Math.max(worst, seconds);
        within += seconds <= lease + 1 ? 1 : 0;
        System.out.printf(Locale.ROOT, "trial %d: %.2f s%n", trial, seconds);
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%d of %d within %d s, the longest %.2f s%n",
        within,
        trials,
        lease + 1,
        worst);
  }

  private static double trial(EmbeddedPostgres postgres, int lease) throws Exception {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("DELETE FROM keeper.job_run");
      statement.execute("DELETE FROM keeper.job");
    }
    var child = start(postgres, lease);
    try (var lines = child.inputReader()) {
      var line = lines.readLine();
      while (line != null && !line.equals("RUNNING")) {
        line = lines.readLine();
      }
      var acted = new CountDownLatch(1);
      var at = new AtomicLong();
      try (var jobs = Jobs.create(postgres.dataSource(), postgres.dataSource(), options(lease))) {
        jobs.register(
            JOB,
            HOURLY,
            context -> {
              act(context);
              at.set(System.nanoTime());
              acted.countDown();
            });
        jobs.start();
        // At a random moment of a lease, like a crash.
        Thread.sleep((long) (Math.random() * lease * 1000));
        long killed = System.nanoTime();
        child.destroyForcibly().waitFor();
        acted.await();
        return (at.get() - killed) / 1e9;
      }
    } finally {
      child.destroyForcibly().waitFor();
    }
  }

  private static void act(JobContext context) {
    context.inFencedTransaction(
        connection -> {
          try (var statement = connection.createStatement()) {
            return statement.execute("SELECT 1");
          }
        });
  }

  private static JobOptions options(int lease) {
    return JobOptions.defaults().owner(Owner.unique("trial")).lease(Duration.ofSeconds(lease));
  }

  private static Process start(EmbeddedPostgres postgres, int lease) throws Exception {
    var java = ProcessHandle.current().info().command().orElseThrow();
    var builder =
        new ProcessBuilder(
            List.of(
                java,
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                FailoverTrials.class.getName(),
                "child",
                Integer.toString(lease)));
    builder.environment().put("TRIAL_URL", postgres.jdbcUrl());
    builder.environment().put("TRIAL_USER", postgres.user());
    builder.environment().put("TRIAL_PASSWORD", postgres.password());
    return builder.redirectErrorStream(true).start();
  }

  private static void child(int lease) throws Exception {
    var source = new PGSimpleDataSource();
    source.setUrl(System.getenv("TRIAL_URL"));
    source.setUser(System.getenv("TRIAL_USER"));
    source.setPassword(System.getenv("TRIAL_PASSWORD"));
    var jobs = Jobs.create(source, source, options(lease));
    jobs.register(
        JOB,
        HOURLY,
        context -> {
          System.out.println("RUNNING");
          while (true) {
            act(context);
            Thread.sleep(50);
          }
        });
    jobs.requestRun(JOB);
    jobs.start();
    Thread.sleep(Duration.ofMinutes(5));
  }
}
