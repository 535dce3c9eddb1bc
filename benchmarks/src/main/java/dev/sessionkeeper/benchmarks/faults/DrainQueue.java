package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.SessionStatus;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Waits until no message is left, then records the final contents of the database.
 *
 * @param lock how long a lease of a killed process may last
 */
record DrainQueue(
    PostgresQueueProvider provider,
    DataSource source,
    Journal journal,
    Duration lock,
    Consumer<String> progress) {
  /** How long the queue may make no progress; a slow machine that progresses gets more time. */
  private static final Duration PATIENCE = Duration.ofSeconds(45);

  private static final Duration STEP = Duration.ofMillis(250);
  private static final int PAGE = 500;

  void run() throws InterruptedException {
    resume(SessionStatus.PAUSED);
    resume(SessionStatus.PARKED);
    long depth = -1;
    long since = System.nanoTime();
    while (depth != 0 && System.nanoTime() - since < PATIENCE.plus(lock).toNanos()) {
      Thread.sleep(STEP);
      long now = depth();
      if (now != depth) {
        depth = now;
        since = System.nanoTime();
      }
    }
    progress.accept("drained, depth " + depth);
  }

  private long depth() {
    try {
      return provider.stats(Shape.QUEUE).depth();
    } catch (KeeperException.Unavailable e) {
      return -1;
    }
  }

  private void resume(SessionStatus status) {
    var set = provider.inspect(Shape.QUEUE, Optional.of(status), Page.Request.first(PAGE)).items();
    for (var session : set) {
      journal.operator(Kind.ACTING, session.id().value(), Act.RESUME.name());
      provider.act(Shape.QUEUE, session.id(), Act.RESUME, "the end");
      journal.operator(Kind.ACTED, session.id().value(), Act.RESUME.name());
    }
  }

  /** Records dead letters, effects, and sessions that still have messages. */
  void writeDown() throws SQLException {
    journal.write(Kind.COUNTED, "", 0, 0, depth(), "");
    var page = Page.Request.first(PAGE);
    while (true) {
      var sessions = provider.inspect(Shape.QUEUE, Optional.empty(), page);
      for (var session : sessions.items()) {
        if (session.backlog() > 0) {
          journal.hold(Kind.STRANDED, session.id().value(), 0, session.backlog());
        }
      }
      if (sessions.next().isEmpty()) {
        break;
      }
      page = new Page.Request(PAGE, sessions.next());
    }
    writeDeadLetters();
    writeEffects();
  }

  private void writeDeadLetters() {
    var page = Page.Request.first(PAGE);
    while (true) {
      var letters = provider.deadLetters(Shape.QUEUE, Optional.empty(), page);
      for (var letter : letters.items()) {
        journal.write(
            Kind.DEAD,
            letter.message().session().orElseThrow().value(),
            Long.parseLong(letter.message().payload().asText()),
            0,
            letter.attempts(),
            letter.reason());
      }
      if (letters.next().isEmpty()) {
        return;
      }
      page = new Page.Request(PAGE, letters.next());
    }
  }

  private void writeEffects() throws SQLException {
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(ChildMain.EFFECTS)) {
      while (rows.next()) {
        journal.write(
            Kind.EFFECT, rows.getString(1), rows.getLong(2), rows.getLong(3), rows.getInt(4), "");
      }
    }
  }
}
