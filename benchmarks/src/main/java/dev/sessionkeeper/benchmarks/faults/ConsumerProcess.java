package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.ProcessorEvent;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.processor.SessionProcessor;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Handles messages until its input ends, and records its actions. Some handlers take long, some
 * fail, a few make dead letters.
 */
final class ConsumerProcess {
  private final Journal journal;
  private final Shape shape;
  private final MessageHandler plain = this::complete;

  private ConsumerProcess(Journal journal, Shape shape) {
    this.shape = shape;
    this.journal = journal;
  }

  public static void main(String[] args) throws Exception {
    var shape = Shape.ofEnvironment();
    try (var journal = new Journal(shape.folder(), ChildMain.nameOfThisProcess())) {
      ChildMain.untilTheDatabaseAnswers(() -> new ConsumerProcess(journal, shape).consume());
    }
    System.exit(0);
  }

  private void consume() throws IOException {
    var options = PostgresOptions.ofDefaults().withoutMigration();
    try (var provider =
            PostgresQueueProvider.create(
                DieAtStatement.of(DatabaseAddress.ofEnvironment().source()), options);
        var processor = processor(provider).start()) {
      ChildMain.say("ready " + processor.state());
      while (System.in.read() >= 0) {
        // Reads until the parent ends.
      }
    }
  }

  private SessionProcessor processor(PostgresQueueProvider provider) {
    var transactional = provider.transactional(Shape.QUEUE, this::write);
    return SessionProcessor.builder(
            new RecordingProvider(provider, journal),
            Shape.QUEUE,
            (delivery, session) ->
                session.id().value().startsWith(CheckEffects.TRANSACTIONAL)
                    ? transactional.handle(delivery, session)
                    : plain.handle(delivery, session))
        .maxConcurrentSessions(shape.slots())
        .drainTimeout(Duration.ofSeconds(5))
        .onFailure((delivery, error) -> Settlement.retryAfter(shortly(), "failed"))
        .listener(this::heard)
        .build();
  }

  private void heard(ProcessorEvent event) {
    if (event instanceof ProcessorEvent.LeaseLost lost) {
      journal.hold(Kind.LOST, lost.session().value(), lost.epoch(), 0);
    }
  }

  /** At once, or a moment later: memory counts the one retry, a row the other. */
  private static Duration shortly() {
    var random = ThreadLocalRandom.current();
    return random.nextBoolean() ? Duration.ZERO : Duration.ofMillis(random.nextInt(1, 60));
  }

  private Settlement complete(Delivery delivery, SessionContext session) {
    return recorded(delivery, session, () -> {});
  }

  private Settlement write(Delivery delivery, SessionContext session, Connection connection)
      throws SQLException {
    return recorded(
        delivery,
        session,
        () -> {
          try (var insert = connection.prepareStatement(ChildMain.INSERT_EFFECT)) {
            insert.setString(1, session.id().value());
            insert.setLong(2, RecordingSession.numberOf(delivery));
            insert.setLong(3, session.epoch());
            insert.setInt(4, delivery.attempt());
            insert.executeUpdate();
          }
        });
  }

  /** The effect of a handler. */
  private interface Effect<E extends Exception> {
    void run() throws E;
  }

  private <E extends Exception> Settlement recorded(
      Delivery delivery, SessionContext session, Effect<E> effect) throws E {
    var id = session.id().value();
    long number = RecordingSession.numberOf(delivery);
    journal.write(Kind.BEGAN, id, number, session.epoch(), delivery.attempt(), "");
    var outcome = Outcome.RETRY;
    try {
      outcome = work(session);
      if (outcome != Outcome.DEAD_LETTER) {
        effect.run(); // Also after a failure, whose effect is to be rolled back.
      }
    } finally {
      journal.message(Kind.ENDED, id, number, session.epoch(), outcome.name());
    }
    return switch (outcome) {
      case COMPLETE -> Settlement.complete();
      case DEAD_LETTER -> Settlement.deadLetter("chosen by the handler");
      case RETRY -> throw new IllegalStateException("now and then");
    };
  }

  /**
   * Works on a message. Most take no time; one in 200 takes longer than a second, so that its lease
   * is renewed.
   */
  private static Outcome work(SessionContext session) {
    var random = ThreadLocalRandom.current();
    int kind = random.nextInt(1000);
    if (kind < 5) {
      LockSupport.parkNanos(random.nextLong(1_200_000_000L, 2_500_000_000L));
    } else if (kind < 50) {
      LockSupport.parkNanos(random.nextLong(5_000_000L, 50_000_000L));
    } else if (kind < 300) {
      LockSupport.parkNanos(random.nextLong(5_000_000L));
    }
    if (random.nextInt(300) == 0) {
      session.releaseSession();
    }
    int ending = random.nextInt(1000);
    if (ending == 0) {
      return Outcome.DEAD_LETTER;
    }
    return ending < 12 ? Outcome.RETRY : Outcome.COMPLETE;
  }
}
