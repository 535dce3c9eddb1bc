package dev.sessionkeeper.server.jobs;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Deletes dead letters of declared queues after their retention, the oldest first. Queues of other
 * applications on the same broker keep theirs.
 */
final class ForgetDeadLetters {
  static final String JOB = "dead-letter-retention";
  private static final Duration EVERY = Duration.ofHours(1);
  private static final int PAGE = 200;

  private final QueueProvider queues;
  private final DeadLetterQueues letters;
  private final Database database;
  private final Supplier<Duration> age;

  /**
   * Creates the job.
   *
   * @param age counts from the moment a message became a dead letter, by the database's clock; read
   *     at each run
   */
  ForgetDeadLetters(
      QueueProvider queues, DeadLetterQueues letters, Database database, Supplier<Duration> age) {
    this.queues = queues;
    this.letters = letters;
    this.database = database;
    this.age = age;
  }

  void schedule(Jobs jobs) {
    jobs.register(JOB, Schedule.every(EVERY), this::run);
  }

  private void run(JobContext context) {
    var before = now().minus(age.get());
    int gone = 0;
    for (var queue : queues.declaredQueues()) {
      int some;
      do {
        some = context.isHeld() && !context.isStopping() ? forgetSome(queue, before) : 0;
        gone += some;
      } while (some == PAGE);
    }
    context.report(gone + " dead letters forgotten");
  }

  private int forgetSome(QueueName queue, Instant before) {
    var oldest =
        letters.deadLetters(queue, Optional.empty(), new Page.Request(PAGE, Optional.empty()));
    List<DeadLetter> old =
        oldest.items().stream().filter(letter -> letter.deadAt().isBefore(before)).toList();
    old.forEach(letter -> letters.discard(queue, letter.id()));
    return old.size();
  }

  private Instant now() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery("SELECT clock_timestamp()")) {
            rows.next();
            return rows.getObject(1, OffsetDateTime.class).toInstant();
          }
        });
  }
}
