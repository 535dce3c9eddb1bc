package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Accepts sessions without a processor and settles whatever the clock says: it renews nothing,
 * holds some sessions longer than their lease, and relies on the store to refuse it. A processor
 * stops by itself, so it would never reveal a missing fence.
 */
final class HolderProcess {
  /** Part of the names of such processes. */
  static final String ROLE = "holder";

  private static final int THREADS = 3;
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Shape shape;
  private final Journal journal;
  private final RecordingProvider provider;
  private volatile boolean isOver;

  private HolderProcess(Shape shape, Journal journal, RecordingProvider provider) {
    this.shape = shape;
    this.journal = journal;
    this.provider = provider;
  }

  public static void main(String[] args) throws Exception {
    var shape = Shape.ofEnvironment();
    var source = DieAtStatement.of(DatabaseAddress.ofEnvironment().source());
    var options = PostgresOptions.ofDefaults().withoutMigration();
    try (var journal = new Journal(shape.folder(), ChildMain.nameOfThisProcess())) {
      ChildMain.untilTheDatabaseAnswers(
          () -> {
            try (var provider = PostgresQueueProvider.create(source, options)) {
              new HolderProcess(shape, journal, new RecordingProvider(provider, journal)).run();
            }
          });
    }
    System.exit(0);
  }

  private void run() throws IOException, InterruptedException {
    ChildMain.requireQueue(provider);
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < THREADS; i++) {
      var owner = Owner.of("holder-" + i);
      threads.add(Thread.ofPlatform().start(() -> holdUntilOver(owner)));
    }
    ChildMain.say("ready");
    while (System.in.read() >= 0) {
      // Reads until the parent ends.
    }
    isOver = true;
    for (var thread : threads) {
      thread.join();
    }
  }

  private void holdUntilOver(Owner owner) {
    while (!isOver) {
      try {
        if (provider.sessions(Shape.QUEUE).acceptNext(owner, Duration.ofMillis(500))
            instanceof AcceptResult.Accepted accepted) {
          hold(accepted.session());
        }
      } catch (KeeperException | CompletionException e) {
        // The lease has expired, as intended, or the database is down.
        LockSupport.parkNanos(20_000_000);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void hold(HeldSession session) throws InterruptedException {
    try (session) {
      for (var delivery : session.receive(4, Duration.ZERO)) {
        var id = session.id().value();
        long number = RecordingSession.numberOf(delivery);
        long epoch = session.lease().epoch();
        journal.write(Kind.BEGAN, id, number, epoch, delivery.attempt(), "");
        LockSupport.parkNanos(time().toNanos());
        journal.message(Kind.ENDED, id, number, epoch, Outcome.COMPLETE.name());
        session
            .settle(List.of(new HeldSession.Settled(delivery.sequence(), Settlement.complete())))
            .toCompletableFuture()
            .orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
            .join();
      }
    }
  }

  /** Returns the length of a hold, mostly short; one in 60 is longer than any lease. */
  private Duration time() {
    var random = ThreadLocalRandom.current();
    return switch (random.nextInt(60)) {
      case 0 -> shape.lock().multipliedBy(2).plusMillis(random.nextInt(3000));
      case 1 -> shape.lock().plusMillis(random.nextInt(-300, 300));
      case 2, 3 -> Duration.ofMillis(random.nextInt(900, 1500));
      default -> Duration.ofMillis(random.nextInt(5));
    };
  }
}
