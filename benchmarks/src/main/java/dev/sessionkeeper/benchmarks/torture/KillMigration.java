package dev.sessionkeeper.benchmarks.torture;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.benchmarks.faults.DieAtStatement;
import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.benchmarks.torture.Row.Seen;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Creates the schema in processes that are killed at one statement after the other. */
final class KillMigration {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final QueueName QUEUE = QueueName.of("after");

  /** The schema takes some hundred statements, and every such step is a place to die. */
  private static final int STEP = 60;

  /** A migration that ends after fewer kills was not met in the middle. */
  private static final int FEWEST_KILLS = 8;

  private KillMigration() {}

  /** The process that is killed. */
  static final class Main {
    private Main() {}

    public static void main(String[] arguments) {
      var source = DieAtStatement.of(DatabaseAddress.ofEnvironment().source());
      try (var provider = PostgresQueueProvider.create(source)) {
        provider.declare(QUEUE, QueueSettings.ordered());
      }
      System.exit(0);
    }
  }

  static Seen run(Path folder) throws Exception {
    int died = 0;
    try (var postgres = EmbeddedPostgres.temporary()) {
      for (int place = 1; ; place += STEP) {
        // By turns before and after the statement.
        int at = died % 2 == 0 ? place : -place;
        var name = "after_" + (at < 0 ? "behind_" : "before_") + place;
        postgres.createDatabase(name);
        var address = DatabaseAddress.of(postgres).withDatabase(name);
        if (!diesWhileItMigrates(address, at, folder.resolve(name + ".log"))) {
          break;
        }
        died++;
        requireWorkingQueue(address, name);
      }
    }
    return died < FEWEST_KILLS
        ? Seen.broken("only " + died + " kills before the migration was complete")
        : Seen.kept("killed at " + died + " places, migrated and served after each");
  }

  private static boolean diesWhileItMigrates(DatabaseAddress address, int at, Path log)
      throws Exception {
    var environment = new HashMap<>(address.asEnvironment());
    environment.put(DieAtStatement.AT, Integer.toString(at));
    try (var process = ChildProcess.start("migration", Main.class, environment, log)) {
      if (!process.awaitEnd(PATIENCE)) {
        throw new IllegalStateException("A migration did not end within " + PATIENCE);
      }
      return process.exitCode() != 0;
    }
  }

  private static void requireWorkingQueue(DatabaseAddress address, String name) throws Exception {
    try (var provider = PostgresQueueProvider.create(address.source())) {
      provider.declare(QUEUE, QueueSettings.ordered());
      provider.send(QUEUE, List.of(Message.of(SessionId.of("s"), Payload.text(name))));
      var accepted = provider.sessions(QUEUE).acceptNext(Owner.of("next"), PATIENCE);
      if (!(accepted instanceof AcceptResult.Accepted held)) {
        throw new IllegalStateException("The queue of " + name + " has no session: " + accepted);
      }
      try (var session = held.session()) {
        var first = session.receive(1, PATIENCE).get(0);
        if (!first.payload().asText().equals(name)) {
          throw new IllegalStateException("The queue of " + name + " has another message");
        }
        session
            .settle(List.of(new HeldSession.Settled(first.sequence(), Settlement.complete())))
            .toCompletableFuture()
            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
    }
  }
}
