package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;

/**
 * Consumers, senders and an operator work on one queue in processes of their own, while they are
 * killed, stopped and replaced, connections are cut and the database crashes. Each process writes a
 * journal outside the database; afterwards the checkers judge all journals together.
 *
 * <p>{@code FaultRun --minutes 10 --processes 3 --faults
 * kill,freeze,leave,sender,cut,database,operator --handlers mixed --seed 42}, and {@code FaultRun
 * judge FOLDER} for journals of an earlier run. The exit code is 1 if a promise was broken. The
 * seed repeats the faults, not the timing.
 */
public final class FaultRun {
  private static final PrintStream OUT = System.out;

  /** The file with the arguments of the run, for a later judgement of its journals. */
  private static final String ARGUMENTS = "arguments";

  private final Options options;
  private final Path folder;
  private final Shape shape;
  private final long began = System.nanoTime();

  FaultRun(Options options) throws IOException {
    this.options = options;
    this.folder =
        options.folder().isPresent()
            ? Files.createDirectories(options.folder().get().toAbsolutePath())
            : Files.createTempDirectory("keeper-faults-");
    var load = options.load();
    this.shape =
        new Shape(
            folder,
            load.senders(),
            load.sessions(),
            load.rate(),
            load.backlog(),
            load.threads(),
            load.slots(),
            load.handlers(),
            load.lock(),
            load.maxAttempts());
  }

  public static void main(String[] args) throws Exception {
    if (args.length == 2 && args[0].equals("judge")) {
      var folder = Path.of(args[1]);
      end(judge(folder, Options.parse(Files.readString(folder.resolve(ARGUMENTS)).split(" "))));
    }
    var options = Options.parse(args);
    var run = new FaultRun(options);
    OUT.println("Journals are in " + run.folder);
    OUT.println("To repeat: FaultRun " + options.asArguments());
    var verdict = run.run();
    OUT.println("To repeat: FaultRun " + options.asArguments());
    end(verdict);
  }

  private static void end(Verdict verdict) {
    OUT.println(verdict.table());
    boolean isGreen = verdict.violations().isEmpty();
    OUT.println(isGreen ? "All promises were kept" : "Promises were BROKEN");
    System.exit(isGreen ? 0 : 1);
  }

  private static Verdict judge(Path folder, Options options) throws IOException {
    var load = options.load();
    return Verdict.of(History.read(folder, load.maxAttempts(), load.slots()));
  }

  Path folder() {
    return folder;
  }

  /** Runs everything and returns the verdict. */
  Verdict run() throws IOException, InterruptedException, SQLException {
    Files.writeString(folder.resolve(ARGUMENTS), options.asArguments());
    try (var postgres = EmbeddedPostgres.temporary();
        var journal = new Journal(folder, "director");
        var cast =
            new Cast(
                shape,
                DatabaseAddress.of(postgres),
                journal,
                options.faults().contains(Faults.CLOCK))) {
      prepare(postgres);
      enter(cast);
      new InjectFaults(options, cast, postgres, journal, this::progress).run();
      for (var role : cast.roles("operator")) {
        cast.leave(role);
      }
      for (var role : cast.roles("sender")) {
        cast.leave(role);
      }
      try (var provider = PostgresQueueProvider.create(postgres.dataSource())) {
        var drain =
            new DrainQueue(provider, postgres.dataSource(), journal, shape.lock(), this::progress);
        drain.run();
        for (var role : cast.roles("consumer")) {
          cast.leave(role);
        }
        drain.writeDown();
      }
    }
    return judge(folder, options);
  }

  private void prepare(EmbeddedPostgres postgres) throws SQLException {
    try (var provider = PostgresQueueProvider.create(postgres.dataSource())) {
      provider.declare(Shape.QUEUE, shape.settings());
    }
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(ChildMain.CREATE_EFFECTS);
      statement.execute("CREATE TABLE other_application (id bigint GENERATED ALWAYS AS IDENTITY)");
    }
  }

  private void enter(Cast cast) throws IOException, InterruptedException {
    for (int i = 0; i < options.processes(); i++) {
      cast.start("consumer-" + i);
    }
    for (int i = 0; i < options.holders(); i++) {
      cast.start("consumer-" + HolderProcess.ROLE + "-" + i);
    }
    for (int i = 0; i < shape.senders(); i++) {
      cast.start("sender-" + i);
    }
    if (options.faults().contains(Faults.OPERATOR)) {
      cast.start("operator-0");
    }
    for (var role : cast.roles("")) {
      cast.awaitReady(role);
    }
    progress("all processes are ready");
  }

  private void progress(String what) {
    var time = Duration.ofNanos(System.nanoTime() - began);
    OUT.println(String.format(Locale.ROOT, "%6.1f s  %s", time.toMillis() / 1000.0, what));
  }
}
