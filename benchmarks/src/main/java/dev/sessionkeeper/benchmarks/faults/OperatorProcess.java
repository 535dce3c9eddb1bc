package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.OperableSessions.Act;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Inspects, acts and accepts sessions by name, in a process that otherwise consumes nothing, until
 * its input ends. Leases by name are served here, or continued by a second provider, as a server
 * does for HTTP clients.
 */
final class OperatorProcess {
  private static final Owner OWNER = Owner.of("operator");
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Shape shape;
  private final Journal journal;
  private final PostgresQueueProvider provider;
  private final PostgresQueueProvider other;
  private final RecordingProvider recording;
  private final Random random;
  private volatile boolean isOver;

  private OperatorProcess(
      Shape shape,
      Journal journal,
      PostgresQueueProvider provider,
      PostgresQueueProvider other,
      long seed) {
    this.shape = shape;
    this.journal = journal;
    this.provider = provider;
    this.other = other;
    this.recording = new RecordingProvider(provider, journal);
    this.random = new Random(seed);
  }

  public static void main(String[] args) throws Exception {
    var shape = Shape.ofEnvironment();
    var name = ChildMain.nameOfThisProcess();
    var source = DatabaseAddress.ofEnvironment().source();
    var options = PostgresOptions.ofDefaults().withoutMigration();
    try (var journal = new Journal(shape.folder(), name)) {
      ChildMain.untilTheDatabaseAnswers(
          () -> {
            try (var provider = PostgresQueueProvider.create(source, options);
                var other = PostgresQueueProvider.create(source, options)) {
              new OperatorProcess(shape, journal, provider, other, name.hashCode()).run();
            }
          });
    }
    System.exit(0);
  }

  private void run() throws IOException, InterruptedException {
    ChildMain.requireQueue(provider);
    var acting = Thread.ofPlatform().start(this::actUntilOver);
    ChildMain.say("ready");
    while (System.in.read() >= 0) {
      // Reads until the parent ends.
    }
    isOver = true;
    acting.join();
  }

  private void actUntilOver() {
    while (!isOver) {
      try {
        doSomething();
      } catch (KeeperException | CompletionException e) {
        // The database is down, or the session went to another owner: both happen here.
      } catch (InterruptedException e) {
        return;
      }
      pause(50, 500);
    }
  }

  private void doSomething() throws InterruptedException {
    int k = random.nextInt(shape.sessions());
    var session = SessionId.of(shape.session(random.nextInt(shape.senders()), k));
    int what = random.nextInt(100);
    if (what < 35) {
      serve(session, false, false);
    } else if (what < 50) {
      serve(session, false, true);
    } else if (what < 58) {
      serve(session, true, random.nextBoolean());
    } else if (what < 68) {
      provider.inspect(Shape.QUEUE, Optional.empty(), Page.Request.first(50));
    } else if (what < 74) {
      provider.stats(Shape.QUEUE);
      provider.deadLetters(Shape.QUEUE, Optional.empty(), Page.Request.first(50));
    } else if (what < 82) {
      act(session, Act.RELEASE);
    } else if (what < 92) {
      act(session, random.nextBoolean() ? Act.PAUSE : Act.PARK);
      pause(50, 1500);
      resume(session);
    } else if (Shape.mayPersonKill(k)) {
      killOrReplay(session);
    }
  }

  private void killOrReplay(SessionId session) {
    if (random.nextBoolean()) {
      act(session, random.nextInt(5) == 0 ? Act.DEAD_LETTER_ALL : Act.DEAD_LETTER_HEAD);
    } else {
      journal.operator(Kind.REPLAYING, session.value(), "");
      provider.replay(Shape.QUEUE, new Selection.OfSession(session));
    }
  }

  private void act(SessionId session, Act act) {
    journal.operator(Kind.ACTING, session.value(), act.name());
    try {
      provider.act(Shape.QUEUE, session, act, "a person in a hurry");
    } finally {
      journal.operator(Kind.ACTED, session.value(), act.name());
    }
  }

  /** Resumes a session, whatever happens to the database meanwhile. */
  private void resume(SessionId session) {
    while (true) {
      try {
        act(session, Act.RESUME);
        return;
      } catch (KeeperException e) {
        pause(100, 300);
      }
    }
  }

  /**
   * Accepts a session by name and completes its present messages.
   *
   * @param isSlow whether the hold lasts longer than a second
   * @param isShown whether a second provider continues the lease
   */
  private void serve(SessionId session, boolean isSlow, boolean isShown)
      throws InterruptedException {
    if (!(recording.accept(Shape.QUEUE, session, OWNER, Duration.ofMillis(50))
        instanceof AcceptResult.Accepted accepted)) {
      return;
    }
    var held = accepted.session();
    try (var served = isShown ? shown(session, held.lease().epoch()) : held) {
      for (var delivery : served.receive(4, Duration.ZERO)) {
        long number = RecordingSession.numberOf(delivery);
        long epoch = held.lease().epoch();
        journal.write(Kind.BEGAN, session.value(), number, epoch, delivery.attempt(), "");
        if (isSlow) {
          pause(300, 900);
        }
        journal.message(Kind.ENDED, session.value(), number, epoch, Outcome.COMPLETE.name());
        var settled = new HeldSession.Settled(delivery.sequence(), Settlement.complete());
        served
            .settle(List.of(settled))
            .toCompletableFuture()
            .orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
            .join();
      }
    }
  }

  private HeldSession shown(SessionId session, long epoch) {
    return new RecordingSession(other.sessions(Shape.QUEUE).handle(session, epoch), journal);
  }

  private void pause(int from, int to) {
    LockSupport.parkNanos(random.nextLong(from, to) * 1_000_000);
  }
}
