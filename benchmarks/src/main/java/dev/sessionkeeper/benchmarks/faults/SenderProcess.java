package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * Sends messages of its own sessions, each with the next number of its session, until its input
 * ends. Unacknowledged messages are sent again under the same id.
 *
 * <p>After a kill its replacement continues behind the last number that was being sent. If the
 * sender chooses message ids it repeats what may be missing; otherwise such a number may never
 * come.
 */
final class SenderProcess {
  private static final long SECOND = 1_000_000_000;
  private static final long PAUSE_NANOS = 200_000_000;
  private static final long LOOK_NANOS = 50_000_000;

  private final int index;
  private final Shape shape;
  private final Journal journal;
  private final PostgresQueueProvider provider;
  private final DataSource application;
  private final long[] sending;
  private final long[] sent;
  private final int threads;
  private volatile boolean isFull;
  private volatile boolean isOver;

  private SenderProcess(int index, Shape shape, Journal journal, PostgresQueueProvider provider)
      throws IOException {
    this.index = index;
    this.shape = shape;
    this.journal = journal;
    this.provider = provider;
    this.application = DatabaseAddress.ofEnvironment().source();
    this.threads = shape.threads();
    this.sending = new long[shape.sessions()];
    this.sent = new long[shape.sessions()];
    readEarlierJournals();
  }

  public static void main(String[] args) throws Exception {
    var shape = Shape.ofEnvironment();
    var name = ChildMain.nameOfThisProcess();
    int index = Integer.parseInt(name.substring(name.indexOf('-') + 1, name.indexOf('.')));
    try (var journal = new Journal(shape.folder(), name)) {
      ChildMain.untilTheDatabaseAnswers(
          () -> {
            var options = PostgresOptions.ofDefaults().withoutMigration();
            try (var provider =
                PostgresQueueProvider.create(DatabaseAddress.ofEnvironment().source(), options)) {
              new SenderProcess(index, shape, journal, provider).run();
            }
          });
    }
    System.exit(0);
  }

  private void readEarlierJournals() throws IOException {
    var sessions = shape.sessionsOf(index);
    try (var files = Files.list(shape.folder())) {
      for (var file : files.toList()) {
        if (Journal.processOf(file).startsWith("sender-" + index + ".")) {
          for (var event : History.read(file, "")) {
            int k = sessions.indexOf(event.session());
            var numbers = event.is(Kind.SENT) ? sent : sending;
            numbers[k] = Math.max(numbers[k], event.number());
          }
        }
      }
    }
  }

  private void run() throws IOException, InterruptedException {
    ChildMain.requireQueue(provider);
    var all = new ArrayList<Thread>();
    for (int i = 0; i < threads; i++) {
      int thread = i;
      all.add(Thread.ofPlatform().start(() -> send(thread)));
    }
    if (shape.backlog() > 0) {
      all.add(Thread.ofPlatform().start(this::watchBacklog));
    }
    ChildMain.say("ready");
    while (System.in.read() >= 0) {
      // Reads until the parent ends.
    }
    isOver = true;
    for (var thread : all) {
      thread.join();
    }
  }

  /**
   * Runs one sending thread. Each has its own sessions, because numbers of a session are sent one
   * after the other.
   */
  private void send(int thread) {
    repeatWhatMayBeMissing(thread);
    var random = ThreadLocalRandom.current();
    long next = System.nanoTime();
    while (!isOver) {
      if (isFull) {
        LockSupport.parkNanos(LOOK_NANOS);
        continue;
      }
      int size = random.nextInt(10) < 7 ? 1 : random.nextInt(2, 20);
      int first = thread + threads * random.nextInt(shape.sessions() / threads);
      var chosen = new ArrayList<Integer>();
      for (int i = 0; i < size; i++) {
        int other = thread + threads * random.nextInt(shape.sessions() / threads);
        chosen.add(Shape.isOutbox(first) || Shape.isOutbox(other) ? first : other);
      }
      send(chosen, Shape.isOutbox(first));
      if (shape.rate() > 0) {
        next += (long) size * threads * SECOND / shape.rate();
        long now = System.nanoTime();
        LockSupport.parkNanos(next - now);
        next = Math.max(next, now - SECOND);
      }
    }
  }

  /** Limits the rate of sends by the progress of consumers. */
  private void watchBacklog() {
    while (!isOver) {
      try {
        isFull = provider.stats(Shape.QUEUE).depth() > shape.backlog();
      } catch (KeeperException e) {
        isFull = false; // A send notices by itself that the database is away.
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private void repeatWhatMayBeMissing(int thread) {
    for (int k = thread; k < sending.length; k += threads) {
      if (Shape.hasOwnIds(k)) {
        for (long number = sent[k] + 1; number <= sending[k]; number++) {
          var message = message(k, number);
          untilAcknowledged(List.of(message), false);
          journal.sender(Kind.SENT, shape.session(index, k), number);
        }
      }
    }
  }

  private void send(List<Integer> chosen, boolean isOutbox) {
    var messages = new ArrayList<Message>();
    for (int k : chosen) {
      messages.add(message(k, ++sending[k]));
      journal.sender(Kind.SENDING, shape.session(index, k), sending[k]);
    }
    untilAcknowledged(messages, isOutbox);
    for (var message : messages) {
      journal.sender(
          Kind.SENT,
          message.session().orElseThrow().value(),
          Long.parseLong(message.payload().asText()));
    }
  }

  private Message message(int k, long number) {
    var session = shape.session(index, k);
    var message = Message.of(SessionId.of(session), Payload.text(Long.toString(number)));
    return Shape.hasOwnIds(k) ? message.withId(MessageId.of(session + "#" + number)) : message;
  }

  private void untilAcknowledged(List<Message> messages, boolean isOutbox) {
    while (true) {
      try {
        if (isOutbox) {
          sendInTransaction(messages);
        } else {
          provider.send(Shape.QUEUE, messages);
        }
        return;
      } catch (KeeperException | SQLException e) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /** Sends in transactions, some of which stay open while later sequence numbers are committed. */
  private void sendInTransaction(List<Message> messages) throws SQLException {
    try (var connection = application.getConnection()) {
      connection.setAutoCommit(false);
      provider.send(connection, Shape.QUEUE, messages);
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(300_000_000L));
      connection.commit();
    }
  }
}
